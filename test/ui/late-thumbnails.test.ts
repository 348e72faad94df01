// What the developer of a page reads if the code for thumbnails can't be loaded.

import { expect } from '@open-wc/testing';
import type { ReactiveControllerHost } from 'lit';
import { createThumbnails } from '../../src/ui/late-thumbnails.ts';
import { deferred, settled } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { replace } from '../support/world.ts';

describe('the code for thumbnails', () => {
  const load = async (isOnline: boolean): Promise<readonly string[]> => {
    const host = { requestUpdate: () => undefined } as unknown as ReactiveControllerHost;
    const loaded = deferred();
    const code = {
      thumbnails: () => {
        loaded.resolve(undefined);
        return Promise.reject(new TypeError('Failed to fetch'));
      },
      tasks: () => import('../../src/photos/photo-tasks.ts'),
    };
    replace(navigator, 'onLine', isOnline);
    let found: readonly string[] = [];
    await captureWarnings(async (warnings) => {
      found = warnings;
      createThumbnails(host, () => undefined, code).preload();
      await loaded.promise;
      await settled();
    });
    return found;
  };

  it('that could not be loaded is named on the console, once, and not while the browser is offline', async () => {
    expect(await load(false)).to.deep.equal([]);
    expect(await load(true)).to.deep.equal([
      'secure-uploader: The code for thumbnails could not be loaded. Serve all files of this version from one folder.',
    ]);
    expect(await load(true)).to.deep.equal([]);
  });
});
