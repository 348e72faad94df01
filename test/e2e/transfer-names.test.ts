// A journey, because it needs the names and bytes that the service has on its disk, and the content policy of a page.
// Unusual file names: each file is stored under the name that its row shows, or is rejected. A script creates the files, because
// some names are impossible on the disk of the test machine.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { afterEach, test } from 'node:test';
import { eventsOf, untilEvent } from './support/browser.ts';
import { assertStored, filesOf, QUICK } from './support/transfer.ts';
import { createWorld } from './support/world.ts';

interface Case {
  readonly about: string;
  readonly name: string;
  /** Name that the browser reports for the file. Defaults to `name`. */
  readonly shown?: string;
  /** Name under which the file is stored. Defaults to `shown`. */
  readonly stored?: string;
  /** Error code, if the file is rejected. */
  readonly refused?: string;
  readonly relativePath?: string;
  readonly content?: string;
}

const COMBINING = '\u0301';

const CASES: readonly Case[] = [
  { about: 'an ordinary name', name: 'report.pdf' },
  { about: 'no extension', name: 'Makefile' },
  { about: 'nothing but an extension', name: '.gitignore' },
  { about: 'composed letters', name: 'caf\u00e9.txt' },
  { about: 'decomposed letters, as macOS has them', name: `cafe${COMBINING}.txt`, stored: 'caf\u00e9.txt' },
  { about: 'decomposed Hangul', name: '\u1112\u1161\u11ab.txt', stored: '\ud55c.txt' },
  { about: 'the longest name, in Latin letters', name: `${'a'.repeat(251)}.txt` },
  { about: 'the longest name, in Chinese', name: `${'長'.repeat(83)}.txt.x` },
  { about: 'a byte more than the longest name', name: `${'a'.repeat(252)}.txt`, refused: 'upload-refused' },
  {
    about: 'a name that only its composed form makes short enough',
    name: `${`e${COMBINING}`.repeat(120)}.txt`,
    stored: `${'\u00e9'.repeat(120)}.txt`,
  },
  { about: 'right-to-left script', name: 'عقد الإيجار.pdf' },
  { about: 'a mark that reverses the direction of text', name: 'invoice\u202efdp.exe' },
  { about: 'a family of emoji', name: '👨\u200d👩\u200d👧\u200d👦.png' },
  { about: 'a skin tone and a variation selector', name: '👍🏽 ☃\ufe0f.png' },
  { about: 'half a character', name: '\ud83d.png', shown: '\ufffd.png', relativePath: 'half.png' },
  { about: 'a trailing dot', name: 'name.' },
  { about: 'trailing spaces', name: 'name  ' },
  { about: 'leading spaces', name: '  name' },
  { about: 'an invisible space', name: 'a\u200bb.txt' },
  { about: 'a line separator of Unicode', name: 'a\u2028b.txt' },
  { about: 'a device of Windows', name: 'CON' },
  { about: 'a device of Windows with an extension', name: 'nul.txt' },
  { about: 'characters that Windows forbids', name: 'a:b*c?"d<e>f|g.txt' },
  { about: 'markup', name: '<img src=x onerror=alert(1)>&amp;.html' },
  { about: 'quotes of a shell', name: `'; rm -rf "$HOME" \`x\`.txt` },
  { about: 'escapes of an address', name: '%2e%2e%2Fpasswd%00.txt' },
  { about: 'a property of every object', name: '__proto__' },
  { about: 'another property of every object', name: 'constructor' },
  { about: 'one dot', name: '.', refused: 'upload-refused' },
  { about: 'two dots', name: '..', refused: 'upload-refused' },
  { about: 'three dots', name: '...' },
  { about: 'no name', name: '', refused: 'upload-refused' },
  { about: 'a name of spaces', name: '   ', refused: 'upload-refused' },
  { about: 'a slash in the name', name: 'a/b.txt', refused: 'upload-refused' },
  { about: 'a backslash in the name', name: 'a\\b.txt', refused: 'upload-refused' },
  { about: 'a line feed', name: 'a\nb.txt', refused: 'upload-refused' },
  { about: 'a zero character', name: 'a\0b.txt', refused: 'upload-refused' },
  { about: 'an escape character', name: 'a\u001b[31mb.txt', refused: 'upload-refused' },
  { about: 'a folder above it', name: 'deep.txt', relativePath: 'one/two/three/deep.txt' },
  { about: 'a path that leaves its folder', name: 'climbs.txt', relativePath: '../../etc/climbs.txt' },
  { about: 'a path of Windows', name: 'drive.txt', relativePath: 'C:\\folder\\drive.txt' },
  { about: 'a path of 60 long folders', name: 'far.txt', relativePath: `${'長'.repeat(85)}/`.repeat(60) },
  { about: 'an empty file', name: 'empty.txt', content: '' },
];

let count = 0;
const world = await createWorld();
const page = await world.openWithToken(QUICK);

interface Given {
  readonly name: string;
  readonly relativePath: string;
  readonly content: string;
}

const add = (files: readonly Given[]): Promise<void> =>
  page.evaluate(async (files) => {
    await document
      .querySelector('secure-uploader')
      ?.addFiles(
        files.map(({ name, relativePath, content }) => ({ file: new File([content], name), relativePath })),
      );
  }, files);

const sumOfText = (text: string): string => createHash('sha256').update(text).digest('hex');

// Removes all files from the widget and all recorded events from the page.
afterEach(async () => {
  for (const { id } of await filesOf(page))
    await page.evaluate((id) => document.querySelector('secure-uploader')?.remove(id), id);
  await page.evaluate(() => {
    (globalThis as unknown as { events: unknown[] }).events.length = 0;
  });
});

const namesIn = async (folder: string): Promise<string[]> =>
  (await world.service.listFiles(folder)).map(({ name }) => name);

for (const { about, name, shown = name, stored = shown, refused, relativePath, content } of CASES) {
  test(`${about}: ${refused ? 'rejected with a sentence' : 'stored'}`, async () => {
    count += 1;
    const given = { name, relativePath: relativePath ?? name, content: content ?? `bytes ${count}` };
    await add([given]);
    if (refused) {
      const [failed] = await untilEvent(page, 'upload-failed');
      assert.equal(failed?.detail.code, refused);
      await page
        .locator('secure-uploader')
        .getByText(/server rejected the upload/)
        .first()
        .waitFor();
      assert.equal((await namesIn('folder-a')).includes(stored), false);
    } else {
      const [completed] = await untilEvent(page, 'upload-completed');
      assert.equal(completed?.detail.name, shown);
      assert.equal(completed?.detail.relativePath, given.relativePath);
      const { file_id: fileId } = completed?.detail.commit ?? {};
      const file = (await world.service.listFiles('folder-a')).find(({ id }) => id === fileId);
      assert.equal(file?.name, stored);
      await assertStored(world, fileId, sumOfText(given.content));
    }
    assert.deepEqual(world.pages.violations, []);
  });
}

const TWINS: Readonly<Record<string, readonly [string, string]>> = {
  'the same name in two folders': ['one/twin.txt', 'two/twin.txt'],
  'the same name twice in one folder': ['twin again.txt', 'twin again.txt'],
  'names that differ in case only': ['README.txt', 'readme.txt'],
  'the same name, composed and decomposed': ['caf\u00e9 twin.txt', `cafe${COMBINING} twin.txt`],
};

for (const [about, paths] of Object.entries(TWINS)) {
  test(`${about}: both are stored, each with its own bytes`, async () => {
    const files = paths.map((path, at) => ({
      name: path.split('/').at(-1) as string,
      relativePath: path,
      content: `${about} ${at}`,
    }));
    await add(files);
    const completed = await untilEvent(page, 'upload-completed', 2);
    const bytes = new Map<string, string>();
    for (const { detail } of completed) bytes.set(detail.commit.file_id, detail.chunks[0].hash);
    assert.deepEqual(new Set(bytes.values()), new Set(files.map(({ content }) => sumOfText(content))));
    for (const [id, sha256] of bytes) await assertStored(world, id, sha256);
  });
}

test('a name that exists in a folder with unique names: rejected with a sentence', async () => {
  const parentFor = (folder: string): Promise<void> =>
    page.evaluate((folder) => {
      document.querySelector('secure-uploader')?.setAttribute('parent-id', folder);
    }, folder);
  await parentFor('folder-unique');
  await add([{ name: 'only one.txt', relativePath: 'only one.txt', content: 'first' }]);
  await untilEvent(page, 'upload-completed');
  await add([{ name: 'only one.txt', relativePath: 'only one.txt', content: 'second' }]);
  const [failed] = await untilEvent(page, 'upload-failed');
  assert.equal(failed?.detail.code, 'name-taken');
  await page
    .locator('secure-uploader')
    .getByText(/already|taken/i)
    .first()
    .waitFor();
  assert.equal((await namesIn('folder-unique')).filter((name) => name === 'only one.txt').length, 1);
  assert.equal((await eventsOf(page, 'upload-completed')).length, 1);
  await parentFor('folder-a');
});
