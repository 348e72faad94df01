// What users read if a path of the service is wrong, and if they may not upload.

import type { SettingsInput } from '../../src/core/settings-table.ts';
import '../../src/define.ts';
import { findReference, uniqueName } from '../service/reference.ts';
import { fileOf } from '../support/bytes.ts';
import { speedUp } from '../support/clock.ts';
import { world } from '../support/world.ts';
import { shown, textOf } from './support.ts';

/** Settings of the element; `path` is added to `base-url`. */
interface Settings extends SettingsInput {
  readonly path?: string;
}

const SET_UP = "Uploads aren't set up correctly on this page. Contact the site owner.";

const CASES: readonly (readonly [name: string, settings: Settings, sentence: string])[] = [
  ['a wrong path in base-url', { path: '/nowhere' }, SET_UP],
  ['a wrong session-path', { sessionPath: '/files/sessions' }, SET_UP],
  ['a wrong chunks-path', { chunksPath: '/files/chunks' }, SET_UP],
  ['a wrong commit-path', { commitPath: '/files/complete' }, SET_UP],
  ['a folder that does not exist', { parentId: 'folder-none' }, "You don't have permission to upload here."],
  ['a folder of others', { parentId: 'folder-readonly' }, "You don't have permission to upload here."],
];

for (const [name, { path = '', ...rest }, sentence] of CASES)
  it(`with ${name}, the row says: ${sentence}`, async () => {
    speedUp(20);
    const { baseUrl } = await findReference();
    const { element } = await world({
      element: true,
      service: 'reference',
      baseUrl: `${baseUrl}${path}`,
      ...rest,
    });
    await element.addFiles([fileOf(1, 300, uniqueName())]);
    await shown(() => element.snapshot.files[0]?.phase === 'failed');
    await shown(() => textOf(element).includes(sentence));
  });
