// The page's own origin in frames without a URL of their own, whose requests nevertheless carry the cookies of the page.

import { expect } from '@open-wc/testing';
import { isOwnOrigin } from '../../src/service/http.ts';

/** Resolves with the result of `isOwnOrigin` for a URL of the page, called in a frame with `srcdoc`. */
async function askInFrame(): Promise<unknown> {
  const frame = document.createElement('iframe');
  frame.srcdoc = '<!doctype html>';
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  document.body.append(frame);
  await loaded;
  const { Function: FrameFunction } = frame.contentWindow as Window & typeof globalThis;
  const source = isOwnOrigin.toString();
  const answer = new FrameFunction('url', `return [location.origin, (${source})(new URL(url))]`)(
    location.href,
  );
  frame.remove();
  return answer;
}

it('is recognized in a page, and in a frame with `srcdoc`', async () => {
  expect(isOwnOrigin(new URL(location.href))).to.equal(true);
  expect(isOwnOrigin(new URL('https://other.example/'))).to.equal(false);
  expect(await askInFrame()).to.deep.equal(['null', true]);
});
