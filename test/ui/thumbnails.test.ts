// Thumbnails in the list: which files get one, when, and what it costs.

import { expect } from '@open-wc/testing';
import type { SecureUploader } from '../../src/define.ts';
import { quietFor, until } from '../support/collect.ts';
import { all, createElement, one, shown, textFile } from './support.ts';

/** Returns a PNG file of one color. */
async function picture(name: string, color = '#f00', width = 300, height = 200): Promise<File> {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D;
  context.fillStyle = color;
  context.fillRect(0, 0, width, height);
  return new File([await canvas.convertToBlob()], name, { type: 'image/png' });
}

const create = (settings = {}): Promise<SecureUploader> =>
  createElement({ manual: true, ...settings, ...{ thumbnails: true } });
const rowOf = (element: SecureUploader, name: string): HTMLElement =>
  all(element, '.row').find((row) => row.textContent?.includes(name)) as HTMLElement;

describe('thumbnails', () => {
  it('are shown in the rows of images, at most 96 pixels wide and high, in place of the letters', async () => {
    const element = await create();
    await element.addFiles([await picture('red.png'), textFile('notes.txt')]);
    const canvas = await shown(() => element.renderRoot.querySelector('canvas'));
    expect([canvas.width, canvas.height]).to.deep.equal([96, 64]);
    const copy = new OffscreenCanvas(1, 1).getContext('2d') as OffscreenCanvasRenderingContext2D;
    copy.drawImage(canvas, 0, 0, 1, 1);
    expect([...copy.getImageData(0, 0, 1, 1).data]).to.deep.equal([255, 0, 0, 255]);
    expect(rowOf(element, 'red').querySelector('.badge')?.textContent?.trim()).to.equal('');
    expect(one(element, '.badge[part=file-icon]').getAttribute('aria-hidden')).to.equal('true');
    const { width, height } = canvas.getBoundingClientRect();
    const badge = (canvas.parentElement as HTMLElement).getBoundingClientRect();
    expect([width, height]).to.deep.equal([badge.width, badge.height]);
    expect(rowOf(element, 'notes').querySelector('.badge')?.textContent).to.equal('TXT');
  });

  it('are not made of broken files, drawings with scripts, and pictures of 900 megapixels', async () => {
    const png = new Uint8Array(await (await picture('a.png')).arrayBuffer());
    new DataView(png.buffer).setUint32(16, 30_000);
    new DataView(png.buffer).setUint32(20, 30_000);
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" onload="window.wasRun = true"><script>window.wasRun = true</script></svg>';
    const element = await create();
    await element.addFiles([
      new File([png], 'bomb.png', { type: 'image/png' }),
      new File([svg], 'script.svg', { type: 'image/svg+xml' }),
      new File(['x'], 'broken.jpg', { type: 'image/jpeg' }),
      new File(['x'], 'broken.mp4', { type: 'video/mp4' }),
      await picture('good.png'),
    ]);
    await shown(() => rowOf(element, 'good').querySelector('canvas'));
    expect(all(element, 'canvas')).to.have.length(1);
    expect(all(element, '.badge').map(({ textContent }) => textContent?.trim())).to.include.members([
      'PNG',
      'SVG',
      'JPG',
      'MP4',
    ]);
    expect('wasRun' in window).to.equal(false);
  });

  it('are made of the visible rows only', async () => {
    const element = await create();
    const files = await Promise.all(
      Array.from({ length: 200 }, (_, at) => picture(`${at}.png`, '#00f', 20, 20)),
    );
    await element.addFiles(files);
    // Not `until`, which would leave the page no idle time.
    await shown(() => all(element, 'canvas').length > 5);
    await shown(() => all(element, 'canvas').length === all(element, '.row').length);
    expect(all(element, '.row').length).to.be.lessThan(100);
  });

  it('stay in the row while its file is uploaded, and after', async () => {
    const element = await create({ manual: false });
    await element.addFiles([await picture('red.png')]);
    const canvas = await shown(() => element.renderRoot.querySelector('canvas'));
    const row = await shown(() => element.renderRoot.querySelector('.row.done'));
    expect(row.contains(canvas)).to.equal(true);
    expect(row.querySelector('.mark')).not.to.equal(null);
  });

  it('are not loaded without the attribute', async () => {
    const element = await createElement({ manual: true });
    await element.addFiles([await picture('red.png')]);
    await shown(() => element.renderRoot.querySelector('.row'));
    await until(quietFor(100, () => performance.getEntriesByType('resource').length));
    expect(all(element, 'canvas')).to.have.length(0);
  });
});
