// Script URLs of workers: only files of the page's origin, and Blobs of this package.

import { expect } from '@open-wc/testing';
import { isPageFile, trustUrl } from '../../src/core/trusted.ts';

const file = `${location.origin}/worker.js?x#y`;
const foreign = [
  `blob:${location.origin}/c0ffee`,
  'data:text/javascript,1',
  'javascript:1',
  'https://other.example/worker.js',
  `${location.origin}.other.example/worker.js`,
  '/worker.js',
];

it('a file of the page may run as a worker', () => {
  expect(isPageFile(file)).to.equal(true);
  expect(`${trustUrl(file)}`).to.equal(file);
});

it('no other URL may, also if its origin is that of the page', () => {
  for (const url of foreign) {
    expect(isPageFile(url), url).to.equal(false);
    expect(() => trustUrl(url), url).to.throw(TypeError);
  }
});

it('a Blob that the package has created may', () => {
  expect(`${trustUrl(foreign[0] ?? '', true)}`).to.equal(foreign[0]);
});
