// A file that changes during its upload, in a browser that does not report the change.

import { expect } from '@open-wc/testing';
import type { UploaderError } from '../../src/core/errors.ts';
import { bytesOf } from '../support/bytes.ts';
import { rejection } from '../support/collect.ts';
import { setUpRun } from '../support/running.ts';

it('an upload is not committed if the file changed meanwhile and the browser does not report it', async () => {
  const bytes = bytesOf(26, 9500);
  const file = new File([bytes], 'a.bin');
  let now = new Blob([bytes]);
  const slice = (from?: number, to?: number): Blob => now.slice(from, to);
  const { service, start } = setUpRun(Object.assign(file, { slice }), { isWatched: false });
  const failed = rejection<UploaderError>(start());
  service.answerAll('open', 'presign');
  const put = await service.nextRequest('put');
  now = new Blob([bytes.toReversed()]);
  put.answer();
  service.answerAll('put');
  expect((await failed).code).to.equal('file-changed');
  expect(service.log.some((entry) => entry.startsWith('commit'))).to.equal(false);
});
