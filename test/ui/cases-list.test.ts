// The list after changes of the layout that fire no event here, and the size of what contains it.

import { expect } from '@open-wc/testing';
import type { SecureUploader } from '../../src/ui/secure-uploader.ts';
import { world } from '../support/world.ts';
import { all, one, shown, textFile } from './support.ts';

const added: Element[] = [];
afterEach(() => {
  for (const each of added.splice(0)) each.remove();
  scrollTo(0, 0);
});

/** Puts a new element into a new container with this style. */
async function inside(
  style: string,
  fileCount: number,
): Promise<{ element: SecureUploader; box: HTMLElement }> {
  const { element } = await world({ element: true, service: 'reference', manual: true, accept: '.txt' });
  const box = document.createElement('div');
  box.style.cssText = style;
  element.replaceWith(box);
  box.append(element);
  added.push(box);
  const files = Array.from({ length: fileCount }, (_, at) => textFile(`${at}.txt`));
  await element.addFiles(files);
  await shown(() => all(element, '.row').length > 0);
  return { element, box };
}

/** Resolves when rows cover what is seen of the list. */
const covered = (element: SecureUploader, edge: () => DOMRect): Promise<unknown> =>
  shown(() => {
    const scroller = one(element, '.scroller').getBoundingClientRect();
    const top = Math.max(scroller.top, edge().top, 0);
    const bottom = Math.min(scroller.bottom, edge().bottom, innerHeight);
    const rows = all(element, '.row').map((row) => row.getBoundingClientRect());
    return (
      rows.length < 200 &&
      rows.some((row) => row.top <= top + 1) &&
      rows.some((row) => row.bottom >= bottom - 1)
    );
  });

describe('the rows of a long list', () => {
  it('are there after the page closed and opened what contains it, and gave it more height', async () => {
    const { element, box } = await inside('', 1000);
    const edge = (): DOMRect => box.getBoundingClientRect();
    const scroller = one(element, '.scroller');
    scroller.scrollTop = 30_000;
    await covered(element, edge);
    box.style.display = 'none';
    for (let count = 0; count < 5; count++) await new Promise(requestAnimationFrame);
    box.style.display = '';
    await covered(element, edge);
    element.style.setProperty('--secure-uploader-list-height', '90vh');
    await covered(element, edge);
    element.style.setProperty('--secure-uploader-font-size', '7px');
    await covered(element, edge);
  });

  it('are those of its place after the page moved it into another scroller, or something before it', async () => {
    const { element, box } = await inside('block-size: 400px; overflow: auto', 1000);
    element.style.setProperty('--secure-uploader-list-height', 'none');
    await shown(() => box.scrollHeight > 50_000);
    box.scrollTop = 20_000;
    await covered(element, () => box.getBoundingClientRect());
    const banner = document.createElement('p');
    banner.style.cssText = 'block-size: 5000px; margin: 0';
    box.prepend(banner);
    await covered(element, () => box.getBoundingClientRect());
    const other = document.createElement('div');
    other.style.cssText = 'block-size: 300px; overflow: auto';
    const root = other.attachShadow({ mode: 'closed' });
    root.innerHTML = '<div style="block-size: 300px; overflow: auto"><slot></slot></div>';
    document.body.append(other);
    added.push(other);
    other.append(element);
    const scroller = root.firstElementChild as HTMLElement;
    await shown(() => scroller.scrollHeight > 50_000);
    for (const place of [40_000, 500, 25_000]) {
      scroller.scrollTop = place;
      await covered(element, () => scroller.getBoundingClientRect());
    }
  });
});

describe('what contains the list', () => {
  for (const style of ['display: grid', 'display: flex; flex-direction: column', 'position: relative'])
    it(`with ${style} becomes neither taller nor wider by announcements, also from right to left`, async () => {
      const { element, box } = await inside(
        `${style}; direction: rtl; block-size: 300px; inline-size: 400px; overflow: auto`,
        3,
      );
      element.style.setProperty('--secure-uploader-list-height', '10em');
      await shown(() => all(element, '.row').length === 3);
      const page = document.documentElement;
      const sizes = (): number[] => [page.scrollWidth, page.scrollHeight, box.scrollWidth];
      const before = sizes();
      await element.addFiles(textFile(`${'long '.repeat(60)}.exe`));
      await shown(() => one(element, '[role=alert].silent').textContent?.includes('long'));
      expect(sizes()).to.deep.equal(before);
      expect(box.scrollHeight).to.be.at.most(Math.ceil(element.getBoundingClientRect().height) + 1);
      await Promise.all(element.snapshot.files.map(({ id }) => element.remove(id)));
      await element.clear();
      await shown(() => all(element, '.row').length === 0);
      expect(box.scrollHeight).to.equal(
        Math.max(box.clientHeight, Math.round(element.getBoundingClientRect().height)),
      );
    });
});
