// What the console says with the first file: which settings the users of the page go without.

import { expect } from '@open-wc/testing';
import { createSettings } from '../../src/core/config.ts';
import { isLoopback } from '../../src/core/loopback.ts';
import type { SettingsInput } from '../../src/core/settings-table.ts';
import { warnOfSettings } from '../../src/engine/warn-of-settings.ts';
import { freshFile } from '../support/bytes.ts';
import { settled, until } from '../support/collect.ts';
import { replace, world } from '../support/world.ts';

function warningsAt(page: string, input: SettingsInput = {}): string[] {
  const warnings: string[] = [];
  const settings = createSettings({ baseUrl: 'https://service.example', ...input });
  warnOfSettings(settings, isLoopback, new URL(page), (message) => warnings.push(message));
  return warnings;
}

const NOT_SET = (names: string): string =>
  `Not set: ${names}. Each protects your users; see "What you must set" in SECURITY.md.`;
const HTTP = 'This page was loaded over http, so others can change it and see what it sends. Use https.';

/** What protects the users of a page. */
const PROTECTED = { owner: 'ann', uploadOrigins: 'https://files.example', auth: 'none' } as const;

const warningsOf = (input: SettingsInput): string[] =>
  warningsAt('http://localhost/', { ...PROTECTED, ...input });

describe('a page whose settings contradict each other', () => {
  for (const [input, expected] of [
    [
      { minFiles: 5, maxFiles: 2, multiple: true },
      'min-files="5" is more than max-files="2", so no form is ever sent.',
    ],
    [{ minFiles: 2 }, 'min-files="2" needs multiple, or no form is ever sent.'],
    [{ maxFiles: 2 }, 'max-files="2" has no effect without multiple.'],
    [{ batchPath: '/batch' }, 'batch-path has no effect without commit-path.'],
    [
      { batchPath: '/batch', profile: { chunkSize: () => 5 } },
      'batch-path has no effect without commit-path.',
    ],
    [
      { batchPath: '/batch', commitPath: '/commit', profile: { chunkSize: () => 5 } },
      'batch-path has no effect with profile.chunkSize: the first chunks are sent before the service could choose their size.',
    ],
  ] as const)
    it(`says: ${expected}`, () => expect(warningsOf(input)).to.deep.equal([expected]));

  it('is not one with limits that can be met', () => {
    for (const input of [
      { minFiles: 2, maxFiles: 2, multiple: true },
      { minFiles: 9, multiple: true },
      { maxFiles: 9, multiple: true },
      { minFiles: 1, maxFiles: 1 },
      { maxFiles: 'auto' },
      { batchPath: '/batch', commitPath: '/commit' },
      { batchPath: '', profile: { chunkSize: () => 5 } },
      {},
    ])
      expect(warningsOf(input), JSON.stringify(input)).to.deep.equal([]);
  });

  it('says which entry of accept matches no file, and nothing of others', () => {
    for (const wrong of ['pdf', '*.txt', 'image']) {
      expect(warningsOf({ accept: `.doc, ${wrong}` })).to.deep.equal([
        `accept=".doc, ${wrong}" has the invalid entry " ${wrong}". Use an extension such as .pdf or a type such as image/*.`,
      ]);
    }
    for (const [joined, mended] of [
      ['.pdf image/*', '.pdf,image/*'],
      ['image/* .pdf', 'image/*,.pdf'],
      ['.pdf\n.doc', '.pdf,.doc'],
      ['application/pdf;image/png', 'application/pdf,image/png'],
      ['.pdf; .png ;.doc', '.pdf,.png,.doc'],
      ['.pdf;', '.pdf'],
    ]) {
      const accept = `.txt,${joined} `;
      expect(warningsOf({ accept })).to.deep.equal([
        `accept="${accept}" has "${joined}" as one type. Write "${mended}".`,
      ]);
    }
    expect(warningsOf({ accept: 'video/*; codecs=vp9;.pdf' })).to.deep.equal([
      'accept="video/*; codecs=vp9;.pdf" has "video/*;.pdf" as one type. Write "video/*,.pdf".',
    ]);
    const accept = '.pdf, image/*,\n application/pdf, */*, video/*; codecs=vp9 ,a/b;x=1; y="2",*,';
    expect(warningsOf({ accept })).to.deep.equal([]);
  });

  it('says which media type of accept does not exist, and which is meant', () => {
    for (const [wrong, right] of [
      ['image/jpg', 'image/jpeg'],
      ['IMAGE/JPG', 'image/jpeg'],
      ['image/svg', 'image/svg+xml'],
      ['application/doc', 'application/msword'],
      ['application/docx', '.docx'],
      ['audio/mp3', 'audio/mpeg'],
      ['text/txt', 'text/plain'],
    ] as const)
      expect(warningsOf({ accept: `.pdf, ${wrong}` }), wrong).to.deep.equal([
        `accept has "${wrong.toLowerCase()}", which is no media type. Did you mean "${right}"?`,
      ]);
    expect(warningsOf({ accept: 'image/jpeg,.jpg,image/*,audio/mpeg,text/plain' })).to.deep.equal([]);
  });

  it('says which options do not exist', async () => {
    const lines: string[] = [];
    replace(console, 'warn', (line: string) => lines.push(line));
    const options = {
      timeouts: 5,
      times: { stallMs: 5, stallMS: 7, openMs: 1 },
      policy: { attempt: 2 },
      retries: 3,
    };
    const { Uploader } = await import('../../src/engine/uploader.ts');
    const uploader = new Uploader(
      { ...PROTECTED, baseUrl: 'https://service.example', manual: true, noResume: true },
      options as never,
    );
    await uploader.addFiles(freshFile(10));
    await until(() => lines.some((line) => line.includes('attempts')));
    await uploader.close();
    expect(lines.filter((line) => line.includes('ptions'))).to.deep.equal([
      'secure-uploader: engineOptions.timeouts is unknown. Did you mean times?',
      'secure-uploader: engineOptions.retries is unknown.',
      'secure-uploader: engineOptions.times.stallMS is unknown. Did you mean stallMs?',
      'secure-uploader: engineOptions.times.openMs is unknown.',
      'secure-uploader: engineOptions.policy.attempt is unknown. Did you mean attempts?',
    ]);
  });
});

describe('a page whose users go without a setting', () => {
  it('says so in one line where pages are developed', () => {
    for (const page of [
      'http://localhost:8000/',
      'https://app.localhost/',
      'http://127.0.0.1/',
      'http://[::1]/',
    ])
      expect(warningsAt(page), page).to.deep.equal([NOT_SET('owner, upload-origins, issuer')]);
    for (const page of ['https://app.example/', 'https://localhost.example/', 'file:///C:/index.html'])
      expect(warningsAt(page), page).to.deep.equal([]);
  });

  it('names only what is missing, and the issuer only if a sign-in page responds', () => {
    const page = 'http://localhost/';
    const set = { owner: 'ann', uploadOrigins: 'https://files.example', issuer: 'https://id.example' };
    expect(warningsAt(page, set)).to.deep.equal([]);
    for (const name of Object.keys(set)) {
      const attribute = name.replace('uploadOrigins', 'upload-origins');
      expect(warningsAt(page, { ...set, [name]: undefined })).to.deep.equal([NOT_SET(attribute)]);
    }
    expect(warningsAt(page, { ...set, owner: '' })).to.deep.equal([NOT_SET('owner')]);
    const { issuer: _, ...others } = set;
    for (const auth of ['token', 'none', 'local'] as const)
      expect(warningsAt(page, { ...others, auth }), auth).to.deep.equal([]);
    expect(warningsAt(page, { ...others, getToken: () => 'token' })).to.deep.equal([]);
    for (const auth of ['popup', 'redirect', 'auto'] as const)
      expect(warningsAt(page, { ...others, auth }), auth).to.deep.equal([NOT_SET('issuer')]);
  });

  it('says that it was loaded over http, on another host', () => {
    expect(warningsAt('http://intranet/', PROTECTED)).to.deep.equal([HTTP]);
    expect(warningsAt('http://192.168.1.5:8080/')).to.deep.equal([
      NOT_SET('owner, upload-origins, issuer'),
      HTTP,
    ]);
  });

  it('says it with its first file, once', async () => {
    const lines: string[] = [];
    replace(console, 'warn', (line: string) => lines.push(line));
    const [first, second] = [world({ manual: true }), world({ manual: true })];
    expect(lines).to.deep.equal([]);
    for (const { uploader } of [first, second, first]) await uploader.addFiles(freshFile(10));
    // The owner is named late, or another setting is missing in another uploader.
    second.uploader.configure({ ...second.input, owner: 'ann' });
    const third = world({ manual: true, auth: 'popup', uploadOrigins: 'https://files.example' });
    for (const { uploader } of [second, third]) await uploader.addFiles(freshFile(10));
    await import('../../src/engine/warn-of-settings.ts');
    await settled();
    expect(lines).to.deep.equal([`secure-uploader: ${NOT_SET('owner, upload-origins')}`]);
  });
});
