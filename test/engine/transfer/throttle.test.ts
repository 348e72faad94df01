// A bandwidth limit that is changed during an upload.

import { expect } from '@open-wc/testing';
import { fileOf } from '../../support/bytes.ts';
import { settled } from '../../support/collect.ts';
import { world } from '../../support/world.ts';

it('a throttle that is removed, or set, during an upload applies from the next chunk', async () => {
  // A chunk of 1,000 bytes at one byte per second: the second chunk would start after 1,000 seconds.
  const engine = world({ throttle: 1, concurrency: 1 });
  engine.service.answerAll('open', 'presign', 'commit');
  await engine.uploader.addFiles([fileOf(1, 5000, 'a.bin')]);
  (await engine.service.nextRequest('put')).answer();
  for (let round = 0; round < 20; round += 1) await settled();
  expect(engine.service.count('put')).to.equal(1);

  engine.uploader.configure({ ...engine.input, throttle: undefined });
  (await engine.service.nextRequest('put')).answer();
  const third = await engine.service.nextRequest('put');
  expect(engine.service.count('put')).to.equal(3);

  engine.uploader.configure({ ...engine.input, throttle: 1 });
  third.answer();
  const fourth = await engine.service.nextRequest('put');
  fourth.answer();
  for (let round = 0; round < 20; round += 1) await settled();
  expect(engine.service.count('put')).to.equal(4);
});
