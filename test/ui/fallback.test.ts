// The text in the tag, which the documentation suggests for pages whose script does not load.

import { expect, fixture } from '@open-wc/testing';
import '../../src/define.ts';

const SECTION = /### If the script does not load\n([\s\S]*?)\n## /;

/** Resolves with the samples of the documentation: the tag and its style sheet. */
async function samples(): Promise<{ readonly html: string; readonly css: string }> {
  const [, section = ''] = SECTION.exec(await (await fetch('/docs/troubleshooting.md')).text()) ?? [];
  const sampleIn = (language: string): string =>
    new RegExp(`\`\`\`${language}\n([^\`]*)\`\`\``).exec(section)?.[1] ?? '';
  return { html: sampleIn('html'), css: sampleIn('css') };
}

/** Returns the text in the tag of a page. */
function textIn(page: ParentNode): HTMLElement {
  const text = page.querySelector<HTMLElement>('secure-uploader > p');
  if (!text) throw new Error('there is no text in the tag');
  return text;
}

describe('the text in the tag', () => {
  it('is shown after a while if the script does not load', async () => {
    const { html, css } = await samples();
    const frame = await fixture<HTMLIFrameElement>(`<iframe></iframe>`);
    const page = frame.contentDocument as Document;
    page.body.innerHTML = `<style>${css}</style>${html}`;
    const text = textIn(page);
    expect(getComputedStyle(text).visibility).to.equal('hidden');
    const [delay, ...others] = page.getAnimations();
    expect(others).to.deep.equal([]);
    expect(delay?.effect?.getComputedTiming().endTime).to.equal(5000);
    delay?.finish();
    expect(getComputedStyle(text).visibility).to.equal('visible');
    expect(text.getClientRects()).to.have.length(1);
  });

  it('is never shown by an element that is defined', async () => {
    const { html, css } = await samples();
    const text = textIn(await fixture(`<div><style>${css}</style>${html}</div>`));
    expect(text.getClientRects()).to.have.length(0);
    expect(text.closest('secure-uploader')?.getAnimations()).to.deep.equal([]);
  });
});
