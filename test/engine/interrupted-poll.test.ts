// A commit that the service accepted (202), and whose repetition was sent and has no response.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { fileOf } from '../support/bytes.ts';
import { until } from '../support/collect.ts';
import { world } from '../support/world.ts';

const gone = new UploaderError('session-expired', 'gone', { status: 404, debugInfo: 'closed' });
const taken = new UploaderError('name-taken', 'there is one', { status: 409 });

describe('an accepted commit whose poll is interrupted by a pause', () => {
  for (const error of [gone, taken])
    it(`stores no second file if its session then gets a ${error.status}`, async () => {
      const engine = world({ onConflict: 'rename', answers: ['open', 'presign', 'put'] });
      await engine.uploader.addFiles([fileOf(1, 500, 'a.bin')]);
      (await engine.service.nextRequest('commit')).answer({ missing: [], pending: { retryAfterMs: 0 } });
      await engine.service.nextRequest('commit');
      await engine.uploader.pause();
      await engine.uploader.resume();
      void engine.service.refuseAll('commit', error);
      await until(() => engine.phase('a.bin') === 'failed' || engine.service.count('open') > 1);
      expect(engine.service.count('open')).to.equal(1);
      expect(engine.row('a.bin')?.error?.code).to.equal('session-expired');
    });
});
