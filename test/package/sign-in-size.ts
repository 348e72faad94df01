// What signing in weighs in an app that a bundler made: the part that every page loads, and the form, which few do.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { type PackedApp, sharedApp } from './packed.ts';

describe('Signing in', () => {
  let app: PackedApp;
  before(async () => {
    app = await sharedApp();
  });

  /** Bytes with gzip of each file that a bundler makes of a module of the package; without what is `external`, it adds nothing of its own. */
  async function sizesOf(entry: string, external?: RegExp): Promise<Map<string, number>> {
    const result = await build({
      root: app.folder,
      configFile: false,
      logLevel: 'error',
      build: {
        write: false,
        target: 'es2022',
        minify: true,
        ssr: external !== undefined,
        rollupOptions: {
          input: join(app.packageFolder, 'dist', entry),
          preserveEntrySignatures: 'strict',
          ...(external && { external }),
        },
      },
    });
    const [first] = [result].flat();
    if (!first || !('output' in first)) throw new Error('nothing was built');
    const files = first.output.flatMap((file) =>
      file.type === 'chunk' ? [[file.name, gzipSync(file.code).length] as const] : [],
    );
    return new Map(files);
  }

  test('costs a page that needs no form at most 9 kB, and what it shares with others', async (t) => {
    const sizes = await sizesOf('auth/session.js', /\/core\/|\/rounds\.js$/);
    const sizeBytes = sizes.get('session') ?? Number.NaN;
    t.diagnostic(`${sizeBytes} bytes with gzip`);
    assert.ok(sizeBytes <= 9000, `${sizeBytes} bytes with gzip`);
  });

  test('has its form in a file of its own of at most 8 kB', async (t) => {
    const sizes = await sizesOf('define.js');
    const sizeBytes = sizes.get('secure-uploader-login') ?? Number.NaN;
    t.diagnostic(`${sizeBytes} bytes with gzip, and ${sizes.get('passkey')} for passkeys`);
    assert.ok(sizeBytes <= 8000, `${sizeBytes} bytes with gzip`);
  });
});
