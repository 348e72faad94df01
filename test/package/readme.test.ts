// Checks the documentation against the project: generated tables, policy, sizes, commands, links and paths. Also
// checks the list of saved fields in SECURITY.md.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { GROWTH_HEADING, growthRows } from '../../scripts/sizes.mjs';
import { writeRecord } from '../../src/engine/resume/record.ts';
import { FIRST_SLICE_BYTES } from '../../src/engine/resume/same-file.ts';
import { chunkSizeFor, MAX_CHUNKS } from '../../src/pipeline/plan.ts';
import { withResults } from '../bench/report.mjs';
import { builtWidget } from '../support/built.ts';
import { all, read, root, run, under } from '../support/documents.ts';
import { printSize } from './sizes.ts';

const readme = read('README.md');
const { dependencies, engines, scripts, version } = JSON.parse(read('package.json'));

const documents = [
  ...[
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'src/README.md',
    'demo/server/README.md',
    'demo/examples/README.md',
  ],
  ...under('docs'),
];

describe('The documentation', () => {
  test('has a reference that matches the manifest, the types, the settings and the texts', () => {
    const { status, output } = run('--import', 'tsx', 'scripts/readme-tables.mjs', '--check');
    assert.equal(status, 0, output);
  });

  test('has a table of the core journeys that all engines passed', () => {
    const { status, output } = run('scripts/journeys.mjs', '--check');
    assert.equal(status, 0, output);
  });

  test('names attributes, properties, methods and events of the element beside those of other uploaders', () => {
    const known = all(read('docs/reference.md'), /^\| `([\w-]+)[`(]/gm);
    const rows = all(read('docs/migration.md'), /^\| .+? \| (.+?) \|.*\|$/gm).filter((cell) =>
      cell.includes('`'),
    );
    assert.ok(rows.length > 50, `${rows.length} rows`);
    const named = rows.flatMap((cell) => all(cell, /`([\w-]+)(?:\(\))?`/g));
    assert.deepEqual(
      named.filter((name) => !known.includes(name)),
      [],
    );
  });

  test('has a picture of the parts, whose text names existing parts', () => {
    const known = all(read('docs/reference.md').split('## Parts')[1] ?? '', /^\| `([\w-]+)` \|/gm);
    const named = all(
      read('docs/theming.md'),
      /^!\[The parts of the uploader: (.+)\]\(parts\.png\)$/gm,
    )[0]?.split(', ');
    assert.ok(named);
    assert.deepEqual(
      named.filter((name) => !known.includes(name)),
      [],
    );
  });

  test('has the content policy of the journeys', () => {
    const directives = (text: string): Map<string, string> =>
      new Map(
        text.split(/[;\n]/).flatMap((line) => {
          const [, name, value] = /^\s*([a-z-]+) (\S.*)$/.exec(line) ?? [];
          return name && value ? [[name, value] as const] : [];
        }),
      );
    const troubleshooting = read('docs/troubleshooting.md');
    const stated = directives(all(troubleshooting, /Content-Security-Policy:\n([\s\S]*?)```/g)[0] ?? '');
    const code = /const policy = [\s\S]*?\.join\('; '\)/.exec(read('test/e2e/support/pages.ts'))?.[0] ?? '';
    const proved = directives(all(code, /["'`](.+)["'`],\n/g).join('\n'));
    assert.deepEqual([...stated.keys()], [...proved.keys()]);
    for (const [name, value] of proved) {
      // Ignores directives with URLs of service and storage, which each page sets.
      if (!value.includes('${')) assert.equal(stated.get(name), value, name);
    }
  });

  test('has sizes that are about those of the build', (t) => {
    const built = builtWidget();
    const rows = [
      ...read('docs/performance.md').matchAll(/^\| `(dist\/(?:cdn\/)?([\w.*-]+\.js))`[^|]*\| (\d+) kB \|/gm),
    ];
    assert.equal(rows.length, 12);
    for (const [, file = '', name = '', kilobytes] of rows) {
      // Parts have hashes in their names.
      const [prefix = '', suffix = ''] = name.split('*');
      const [builtName = assert.fail(file)] = readdirSync(built).filter(
        (each) => each.startsWith(prefix) && each.endsWith(suffix),
      );
      const sizeBytes = gzipSync(readFileSync(join(built, builtName))).length;
      printSize(t, file, sizeBytes);
      const statedBytes = Number(kilobytes) * 1000;
      const isAbout = Math.abs(sizeBytes - statedBytes) <= Math.max(1000, statedBytes / 5);
      assert.ok(
        isAbout,
        `${name} has ${sizeBytes} bytes with gzip: correct the table in docs/performance.md`,
      );
    }
  });

  test('has a table for parts that grew by more than 1 %, which `npm run sizes` writes', () => {
    const before = { grown: 1000, same: 1000, smaller: 1000 };
    const after = { grown: 1011, same: 1010, smaller: 1, added: 5 };
    assert.deepEqual(growthRows(before, after, '2026-01-02', 'texts'), [
      '| 2026-01-02 | grown | 1000 → 1011 | texts |\n',
      '| 2026-01-02 | added | new → 5 | texts |\n',
    ]);
    assert.equal(read('docs/performance.md').split(GROWTH_HEADING).length, 2);
  });

  test('has a table of results that the benchmark can write', () => {
    const row = (client: string, MBps: number) => ({
      ...{ client, good: 3, MBps, minMBps: MBps - 1, maxMBps: MBps + 1, firstByteMs: 200, pagePeakMB: 40 },
      ...{ cpuPerGB: 10, longestTaskMs: 0 },
    });
    const rows = [
      row('raw-balanced', 120),
      row('secure-uploader', 100),
      { ...row('secure-uploader@picker', 99), firstByteMs: 100 },
      row('tus-js', 90),
      row('upchunk', 80),
      row('secure-uploader@batches', 70),
      { ...row('raw-batched', 60), cpuPerGB: 9 },
    ];
    const measured = { measuredAt: '2026-01-02T03:04:05Z', browser: 'Browser 1', machine: { processors: 2 } };
    const before = read('docs/performance.md');
    const after = withResults(before, { ...measured, profiles: [{ name: 'gbit', rounds: 5, rows }] });
    const [results = ''] = all(after, /<!-- results of npm run bench -->\n([\s\S]*)\n<!-- end/g);
    assert.match(results, /^Measured 2026-01-02, Browser 1, 2 cores, 5 rounds\.$/m);
    assert.ok(
      results.includes(
        '| `gbit` | 100.0 (99.0–101.0) | 120.0 | 90.0 tus-js | 200, 100, 200 | under 50 | 40 | 10.0, – |',
      ),
    );
    assert.ok(
      results.includes(
        '| `gbit`, batches | 70.0 (69.0–71.0) | 60.0 | 90.0 tus-js | 200, –, 200 | under 50 | 40 | 10.0, 9.0 |',
      ),
    );
    assert.equal(
      after.replace(results, ''),
      before.replace(all(before, /bench -->\n([\s\S]*)\n<!-- end/g)[0] ?? '', ''),
    );
  });

  test('has a README that is read in five minutes', () => {
    assert.ok(readme.split('\n').length <= 151);
    assert.ok(readme.split(/\s+/).length <= 951);
    const stated = Number(/about (\d+) kB/.exec(readme)?.[1]);
    assert.equal(
      stated,
      Number(/secure-uploader\.min\.js`[^|]*\| (\d+) kB/.exec(read('docs/performance.md'))?.[1]),
    );
  });

  test('has the correct name, version, packages and Node version', () => {
    const archives = all(readme, /(secure-uploader-[\d.]+\.tgz)/g);
    assert.deepEqual([...new Set(archives)], [`secure-uploader-${version}.tgz`]);
    assert.equal(engines.node, '>=20.19');
    assert.match(readme, /Node 20\.19 or later/);
    const atRunTime = /packages are used at run time: (.*)\.$/m.exec(readme)?.[1] ?? '';
    assert.deepEqual(all(atRunTime, /`([\w-]+)`/g).sort(), Object.keys(dependencies).sort());
  });

  test('has the limits of the code', () => {
    const mib = 2 ** 20;
    const limits = read('docs/limits.md');
    assert.match(limits, /single chunk \(up to 5 MiB, or below 10 MiB if/);
    assert.equal(chunkSizeFor(5 * mib, 'auto', mib), 5 * mib);
    assert.ok(chunkSizeFor(5 * mib + 1, 'auto', mib) < 5 * mib);
    assert.ok(chunkSizeFor(10 * mib - 1, 'auto') >= 10 * mib - 1);
    assert.ok(chunkSizeFor(10 * mib, 'auto') < 10 * mib);
    assert.match(limits, new RegExp(`at most ${MAX_CHUNKS.toLocaleString('en')} chunks`));
  });
});

describe('SECURITY.md', () => {
  const security = read('SECURITY.md');

  test('lists every saved field of an upload', () => {
    const record = writeRecord({
      ...{ chunksId: 'c', key: 'k', name: 'n', relativePath: 'n', sizeBytes: 1, lastModifiedMs: 1, type: '' },
      ...{ parentId: 'p', firstSliceHash: 'h', chunkSizeBytes: 1, hashAlgorithm: 'sha-256', createdAtMs: 1 },
      session: { sessionId: 's', header: 'h' },
    });
    const rows = security.split('\n').filter((line) => line.startsWith('| `'));
    const listed = rows.flatMap((row) => all(row.split('|')[1] ?? '', /`(\w+)`/g));
    assert.deepEqual(listed.filter((name) => name in record).sort(), Object.keys(record).sort());
    assert.match(security, new RegExp(`first ${FIRST_SLICE_BYTES / 1024} KiB`));
  });
});

describe('All documents', () => {
  test('refer to existing commands', () => {
    const own = ['install', 'ci', 'pack', 'audit', 'view'];
    const named = documents.flatMap((file) => all(read(file), /(?:`|^)npm (run [\w:-]+|[a-z]+)\b/gm));
    const missing = named.filter((command) => {
      const name = command.replace(/^run /, '');
      return !(name in scripts) && !(own.includes(name) && name === command);
    });
    assert.deepEqual(missing, []);
    assert.ok(named.includes('start') && named.includes('test'));
  });

  test('let npx run only the installed package, because anybody could publish one with this name', () => {
    const loose = documents.filter((file) => /npx (?!--no-install)[\w-]*secure-uploader/.test(read(file)));
    assert.deepEqual(loose, []);
  });

  test('link to existing files', () => {
    const broken = documents.flatMap((file) =>
      all(read(file), /\]\(([^)\s]+)\)/g)
        .filter((link) => !/^(https?:|#)/.test(link))
        .filter((link) => !existsSync(join(root, dirname(file), link.replace(/#.*/, ''))))
        .map((link) => `${file}: ${link}`),
    );
    assert.deepEqual(broken, []);
  });

  test('refer to existing sources, tests and scripts', () => {
    const missing = documents.flatMap((file) =>
      all(read(file), /`((?:src|test|docs|demo|scripts)\/[\w./-]+)`/g)
        .filter((path) => !path.includes('locales/') && !existsSync(join(root, path)))
        .map((path) => `${file}: ${path}`),
    );
    assert.deepEqual(missing, []);
  });

  test('have a source map that lists exactly the modules of each folder', () => {
    const paragraphs = [...read('src/README.md').matchAll(/^\*\*([\w/]+)\*\* — ([\s\S]*?)\n\n/gm)];
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    const described = paragraphs.map(([, folder = '']) => folder);
    assert.deepEqual(
      described.filter((folder) => !folder.includes('/')).sort(),
      folders.map(({ name }) => name).sort(),
    );
    for (const [, folder = '', text = ''] of paragraphs) {
      const modules = readdirSync(join(root, 'src', folder), { recursive: true, encoding: 'utf8' })
        .map((name) => name.replaceAll('\\', '/'))
        .filter((name) => name.endsWith('.ts'))
        .filter(
          (name) =>
            !described.some(
              (inner) => `${folder}/${name}`.startsWith(`${inner}/`) && inner.length > folder.length,
            ),
        );
      const listed = new Set(all(text, /`([\w./-]+\.ts)`/g));
      assert.deepEqual([...listed].sort(), modules.sort(), folder);
    }
  });
});
