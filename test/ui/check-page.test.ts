// What a page writes into the tag by mistake: children that no slot shows, and listeners as attributes.

import { expect } from '@open-wc/testing';
import '../../src/define.ts';
import { settled, until } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';

const NO_SLOT =
  'has no slot, so it is not shown. If it should be after the element: HTML ignores "/>", write </secure-uploader>.';
const SLOTS = 'The slots are empty, icon, invitation, hint, buttons, row-{id}, footer.';

/** Resolves with the lines about the tag, when its engine has come. */
async function linesFor(tag: string, expectedCount = 1): Promise<readonly string[]> {
  const place = document.createElement('div');
  const base = 'base-url="https://files.test" auth="none" no-resume';
  let lines: readonly string[] = [];
  await captureWarnings(async (warnings) => {
    place.innerHTML = tag.replace('<secure-uploader', `<secure-uploader ${base}`);
    document.body.append(place);
    const element = place.querySelector('secure-uploader');
    await element?.clear();
    await until(() => warnings.length >= expectedCount);
    for (let round = 0; round < 20; round += 1) await settled();
    lines = [...warnings];
  });
  place.remove();
  return lines;
}

/** Resolves with the slots that the documentation lists. */
async function slotsOfReference(): Promise<readonly string[]> {
  const text = await (await fetch('/docs/reference.md')).text();
  const [, table = ''] = /<!-- table: slots -->([\s\S]*?)<!-- end -->/.exec(text) ?? [];
  return [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, slot = '']) => slot);
}

describe('a child that no slot shows', () => {
  it('is named, only the first of them', async () => {
    expect(
      await linesFor('<secure-uploader>Save <p>text</p><button>Save</button><form></form></secure-uploader>'),
    ).to.deep.equal([`secure-uploader: <button> in <secure-uploader> ${NO_SLOT}`]);
  });

  it('is named if the tag was not closed, and has swallowed the page', async () => {
    expect(
      await linesFor('<secure-uploader /><p>One.</p><section><h2>Two</h2></section><input>'),
    ).to.deep.equal([`secure-uploader: <section> in <secure-uploader> ${NO_SLOT}`]);
  });

  it('is named if it only contains what is no text', async () => {
    expect(await linesFor('<secure-uploader><p><textarea></textarea></p></secure-uploader>')).to.deep.equal([
      `secure-uploader: <p> in <secure-uploader> ${NO_SLOT}`,
    ]);
  });

  it('is named with its slot', async () => {
    expect(await linesFor('<secure-uploader><h2 slot="title">Files</h2></secure-uploader>')).to.deep.equal([
      `secure-uploader: <h2> in <secure-uploader> is not shown, because there is no slot "title". ${SLOTS}`,
    ]);
    expect(await linesFor('<secure-uploader><b slot="Footer">Files</b></secure-uploader>')).to.deep.equal([
      `secure-uploader: <b> in <secure-uploader> is not shown, because there is no slot "Footer". ${SLOTS}`,
    ]);
  });

  it('is none if it is a text for pages without the script, or in a slot', async () => {
    const slots = (await slotsOfReference()).map((slot) => slot.replace('{id}', '1'));
    expect(slots).to.include.members(['row-1', 'login']);
    for (const content of [
      '<p>The uploader could not be loaded. <a href="mailto:help@example.com">Write us</a>.</p>',
      ' Loading… <!-- a comment --> <span>Loading</span><noscript>Turn on scripts</noscript>',
      '<div>Loading…<br><strong>Wait</strong></div><script type="x"></script><template><button></button></template>',
      slots.map((slot) => `<button slot="${slot}">x</button>`).join(' '),
    ])
      expect(await linesFor(`<secure-uploader>${content}</secure-uploader>`, 0), content).to.deep.equal([]);
  });
});

describe('a listener as an attribute', () => {
  it('is named, with what to write', async () => {
    expect(
      await linesFor(
        '<secure-uploader onupload-completed="a()" onuploadfailed="b()" onFile-Add="c()"></secure-uploader>',
        3,
      ),
    ).to.deep.equal([
      'secure-uploader: The attribute onupload-completed does nothing. Use addEventListener("upload-completed", …).',
      'secure-uploader: The attribute onuploadfailed does nothing. Use addEventListener("upload-failed", …).',
      'secure-uploader: The attribute onfile-add does nothing. Use addEventListener("file-add", …).',
    ]);
  });

  it('of the browser, or of another library, causes no line', async () => {
    expect(
      await linesFor(
        '<secure-uploader onclick="" on-conflict="fail" on:upload-completed="" onboard="" ontouchstart=""></secure-uploader>',
        0,
      ),
    ).to.deep.equal([]);
  });
});
