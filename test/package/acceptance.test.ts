// What SECURITY.md says about dependencies, and about what is not defended.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('The supply chain', () => {
  test('the lock file has one version of each dependency, and sign-in has no dependency', () => {
    const readJson = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));
    const { dependencies } = readJson('package.json') as { dependencies: Record<string, string> };
    const { packages } = readJson('package-lock.json') as {
      packages: Record<string, { version: string; integrity: string; dependencies: object }>;
    };
    assert.deepEqual(packages['']?.dependencies, dependencies);
    for (const [name, range] of Object.entries(dependencies)) {
      assert.match(range, /^\^\d+\.\d+\.\d+$/, name);
      const locked = packages[`node_modules/${name}`];
      assert.equal(`^${locked?.version}`, range, name);
      assert.match(locked?.integrity ?? '', /^sha512-/, name);
    }
    const taken = readdirSync(join(root, 'src/auth'))
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => [
        ...readFileSync(join(root, 'src/auth', name), 'utf8').matchAll(
          /from '([^.'][^']*)'|import\('([^.'][^']*)'\)/g,
        ),
      ])
      .map(([, one, other]) => one ?? other);
    assert.deepEqual([...new Set(taken)], []);
  });

  test('the documentation lists what is not defended', () => {
    const security = readFileSync(join(root, 'SECURITY.md'), 'utf8').split('## What is not')[1] ?? '';
    const docs = readFileSync(join(root, 'docs/authentication.md'), 'utf8');
    for (const limit of [/script that runs on the page/i, /harder, not impossible/i, /proof of possession/i])
      assert.match(security, limit);
    assert.match(docs, /proof of possession/i);
    assert.match(docs, /A script\s+that runs on your page can start its own sign-in/);
  });
});
