// What a company checks before it uses the package: licenses, an SBOM, and that the release can be reproduced and traced.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type PackedApp, packInto, sharedApp } from './packed.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Component {
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly { readonly license: { readonly id: string } }[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

describe('the package', () => {
  let app: PackedApp;
  before(async () => {
    app = await sharedApp();
  });
  const text = (file: string): Promise<string> => readFile(join(app.packageFolder, file), 'utf8');

  test('lists its run-time packages in an SBOM, with the versions and hashes of the lock file', async () => {
    const sbom = JSON.parse(await text('dist/sbom.cdx.json'));
    const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
    assert.deepEqual([sbom.bomFormat, sbom.metadata.component.name], ['CycloneDX', 'secure-uploader']);
    const components = sbom.components as Component[];
    for (const name of Object.keys(app.manifest.dependencies))
      assert.ok(
        components.some((component) => component.name === name),
        `${name} is missing`,
      );
    for (const { name, version, hashes = [] } of components) {
      const locked = packages[`node_modules/${name}`];
      const [sha512] = hashes.filter(({ alg }) => alg === 'SHA-512');
      const integrity = `sha512-${Buffer.from(sha512?.content ?? '', 'hex').toString('base64')}`;
      assert.deepEqual([version, integrity], [locked.version, locked.integrity], name);
      assert.ok(!locked.dev || name.startsWith('@types/'), `${name} is not used at run time`);
    }
  });

  test('has the license of each package that its files contain', async () => {
    const notices = await text('dist/third-party-licenses.txt');
    assert.equal(notices, await text('dist/cdn/third-party-licenses.txt'));
    for (const [name, words] of [
      ['lit', 'Google LLC'],
      ['lit-html', 'Google LLC'],
      ['idb-keyval', 'Apache License'],
      ['hash-wasm', 'Dani Biró'],
    ] as const) {
      const section = notices.split(/^-{80}$/m).find((part) => part.includes(`\n${name} `)) ?? '';
      assert.ok(section.includes(words), `${name}: ${section.slice(0, 200)}`);
    }
  });

  test('names its version and these licenses in the files that contain other packages', async () => {
    for (const file of ['secure-uploader.min.js', 'hash-wasm.worker.js']) {
      const [line] = (await text(`dist/cdn/${file}`)).split('\n');
      assert.ok(
        line?.startsWith(`/*! secure-uploader ${app.manifest.version} | MIT | third-party-licenses.txt`),
        file,
      );
    }
  });

  test('has the same archive when it is packed in another folder, at another time', async () => {
    const [again, first] = [await packInto(temporaryFolder()), app].map(({ archive }) =>
      readFileSync(archive),
    );
    assert.ok(again && first?.equals(again));
  });
});
