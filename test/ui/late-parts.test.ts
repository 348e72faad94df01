// Parts that are loaded late: a page may stay open until a new release has replaced their files, so they are loaded before they are
// needed.

import { expect, fixture, html } from '@open-wc/testing';
import { whenIdle } from '../../src/core/wait.ts';
import type { SecureUploader } from '../../src/define.ts';
import '../../src/define.ts';

performance.setResourceTimingBufferSize(5000);

/** Returns the number of scripts that the page has loaded. Their names are hashes. */
const scripts = (): number =>
  performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).length;

const idle = (): Promise<void> => new Promise((resolve) => whenIdle(resolve));

// The order matters, because a part is loaded once for all tests of a page.
describe('an element that uploads nothing yet', () => {
  it('loads nothing without base-url', async () => {
    const before = scripts();
    await fixture(html`<secure-uploader></secure-uploader>`);
    for (let turn = 0; turn < 3; turn += 1) await idle();
    expect(scripts()).to.equal(before);
  });

  it('loads nothing but the engine and the list if the page supplies the tokens', async () => {
    const open = (): Promise<SecureUploader> =>
      fixture(
        html`<secure-uploader base-url="https://token.example" .getToken=${() => 'token'}></secure-uploader>`,
      );
    // What only developers get is loaded on localhost, beside the parts that are counted here.
    await Promise.all([import('../../src/engine/warn-of-settings.ts'), import('../../src/ui/check-page.ts')]);
    const before = scripts();
    await (await open()).clear();
    const withList = scripts();
    expect(withList).to.be.greaterThan(before);
    await open();
    for (let turn = 0; turn < 3; turn += 1) await idle();
    expect(scripts()).to.equal(withList);
  });

  for (const auth of ['popup', 'local'])
    it(`loads the code for auth="${auth}" as soon as the page is idle`, async () => {
      const before = scripts();
      await fixture(
        html`<secure-uploader base-url=${`https://${auth}.example`} auth=${auth}></secure-uploader>`,
      );
      while (scripts() === before) await idle();
    });
});
