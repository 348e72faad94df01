// What SECURITY.md says about dependencies, and about what is not defended.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { missingForRelease } from '../../scripts/release.mjs';
import { temporaryFolder } from '../support/temporary-folder.ts';

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

  test('the job that may publish installs nothing, and publishes the archive of the job that tested it', () => {
    const text = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8');
    assert.match(text, /^permissions: \{\}$/m);
    const jobs = new Map(
      text
        .slice(text.indexOf('\njobs:\n'))
        .split(/^ {2}(?=\w+:$)/m)
        .map((job) => [job.slice(0, job.indexOf(':')), job]),
    );
    const writers = [...jobs].filter(([, job]) => /: write/.test(job)).map(([name]) => name);
    assert.deepEqual(writers, ['publish']);
    const [build = '', publish = ''] = [jobs.get('build'), jobs.get('publish')];
    assert.ok(build.indexOf('npm test') < build.indexOf('npm pack'));
    assert.match(build, /npm ci\n[\s\S]*npm audit signatures/);
    const commands = [...publish.matchAll(/- (?:run|uses): ([^#\n]+?)(?:@.+)?$/gm)].map(
      ([, command]) => command,
    );
    const isSame =
      'test "sha512-$(openssl dgst -sha512 -binary secure-uploader-*.tgz | openssl base64 -A)" = "$INTEGRITY"';
    assert.deepEqual(commands, [
      'actions/download-artifact',
      'actions/setup-node',
      isSame,
      'npm publish ./secure-uploader-*.tgz --provenance --access public --ignore-scripts',
    ]);
    // Another machine has built the same archive before.
    assert.match(publish, /needs: \[build, rebuild\]/);
    const rebuild = jobs.get('rebuild') ?? '';
    assert.ok(rebuild.indexOf('npm pack') < rebuild.indexOf(isSame));
    assert.doesNotMatch(rebuild, /artifact|npm test/);
    // Nothing runs if something is missing that only the owner can fill in.
    assert.match(jobs.get('complete') ?? '', /run: node scripts\/release\.mjs/);
    assert.match(jobs.get('verify') ?? '', /needs: complete/);
    assert.match(build, /needs: verify/);
  });

  test('a release names each thing that only the owner of the project can fill in, and no other', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, '.github/workflows'), { recursive: true });
    const image = `node:20-trixie@sha256:${'0'.repeat(64)}`;
    const complete: Readonly<Record<string, string>> = {
      'package.json':
        '{ "repository": { "url": "git+https://git.test/a.git" }, "bugs": { "email": "a@b.test" } }',
      'SECURITY.md': '## Reporting a vulnerability\n\nWrite to a@b.test.\n\n## Supported versions\n\n1.x.\n',
      '.github/CODEOWNERS': '# Who reviews\n* @owner\n',
      '.github/workflows/verify.yml': `jobs:\n  a:\n    container: ${image} # Debian\n`,
    };
    const missingWith = (changed: Readonly<Record<string, string>>): string[] => {
      for (const [name, text] of Object.entries({ ...complete, ...changed }))
        writeFileSync(join(folder, name), text);
      return missingForRelease(folder);
    };
    assert.deepEqual(missingWith({}), []);
    const security = complete['SECURITY.md'] ?? '';
    for (const [name, text, expected] of [
      ['package.json', '{ "repository": {}, "bugs": { "url": "https://git.test" } }', /`repository\.url`/],
      ['package.json', '{ "repository": { "url": "git" } }', /`bugs`/],
      ['SECURITY.md', security.replace('Write to a@b.test.', 'Tell us.'), /an address/],
      ['SECURITY.md', security.replace('1.x.', ''), /"Supported versions"/],
      ['.github/CODEOWNERS', '# Nobody\n', /CODEOWNERS/],
      [
        '.github/workflows/verify.yml',
        'jobs:\n  a:\n    container: node:20-trixie\n',
        /digest of the image node:20-trixie/,
      ],
    ] as const) {
      const missing = missingWith({ [name]: text });
      assert.equal(missing.length, 1, `${name}: ${missing}`);
      assert.match(missing[0] ?? '', expected);
    }
  });

  test('this project says what a release needs, without which nothing is published, and invents none of it', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/release.mjs'], {
      cwd: root,
      encoding: 'utf8',
    });
    const missing = missingForRelease(root);
    assert.equal(status, missing.length > 0 ? 1 : 0);
    assert.equal(stderr, missing.map((sentence) => `missing for a release: ${sentence}\n`).join(''));
  });

  test('workflows run actions of one commit, not of a tag that can be moved', () => {
    const folder = join(root, '.github/workflows');
    const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    const used = texts.flatMap((text) => text.match(/uses: (?!\.\/).+/g) ?? []);
    assert.ok(used.length > 0);
    for (const line of used) assert.match(line, /@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('no workflow leaves credentials in a checkout, or may write to the repository', () => {
    const folder = join(root, '.github/workflows');
    for (const name of readdirSync(folder)) {
      const text = readFileSync(join(folder, name), 'utf8');
      for (const [, step = ''] of text.matchAll(/uses: actions\/checkout@(.+\n[\s\S]*?)(?=\n {6}- |$)/g))
        assert.match(step, /persist-credentials: false/, name);
      assert.doesNotMatch(text, /(?:contents|packages|actions|pull-requests): write|write-all/, name);
    }
  });

  test('system packages are announced before they are installed, and SKIP_INSTALL refuses them', () => {
    const folder = temporaryFolder();
    const log = join(folder, 'log');
    writeFileSync(join(folder, 'apt-get'), `#!/bin/sh\necho "ran $*" | tee -a ${log}\n`, { mode: 0o755 });
    const install = (more: Record<string, string>): string => {
      const script = "import('./scripts/browser.mjs').then(({ aptInstall }) => aptInstall(['a-package']))";
      const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, SKIP_INSTALL: '', ...more };
      return spawnSync(process.execPath, ['-e', script], { cwd: root, env, encoding: 'utf8' }).stdout;
    };
    install({ SKIP_INSTALL: '1' });
    assert.equal(existsSync(log), false);
    const printed = install({});
    // Only root can install packages, and only on Debian.
    if (existsSync(log))
      assert.match(
        printed,
        /^setup: the tests need a-package\. .*SKIP_INSTALL=1.*: apt-get .*install a-package\nran /,
      );
  });

  for (const { title, libraries, isReachable, expected } of [
    {
      title: 'a Chromium is downloaded, and no system package is installed, if it can start',
      libraries: 'libnss3.so libgbm.so.1 libasound.so.2',
      isReachable: true,
      expected: ['download'],
    },
    {
      title: 'system packages are installed if no Chromium can be downloaded',
      libraries: 'libnss3.so libgbm.so.1 libasound.so.2',
      isReachable: false,
      expected: ['download', 'apt-get'],
    },
    {
      title: 'system packages are installed without a download if a downloaded Chromium could not start',
      libraries: 'libnss3.so',
      isReachable: true,
      expected: ['apt-get'],
    },
  ])
    test(title, () => {
      const folder = temporaryFolder();
      const log = join(folder, 'log');
      const chromium = (path: string): string =>
        `mkdir -p ${join(path, '..')} && printf '#!/bin/sh\\n' > ${path} && chmod +x ${path}`;
      const tool = (name: string, text: string): void =>
        writeFileSync(join(folder, name), `#!/bin/sh\nPATH=/usr/bin:/bin\n${text}\n`, { mode: 0o755 });
      tool('apt-get', `echo apt-get >> ${log}; ${chromium(join(folder, 'chromium'))}`);
      tool('ldconfig', `echo ${libraries}`);
      mkdirSync(join(folder, 'node_modules/playwright'), { recursive: true });
      const downloaded = join(folder, 'browsers/chromium-1/chrome-linux/chrome');
      tool('fetch', `echo download >> ${log}; ${isReachable ? chromium(downloaded) : 'exit 1'}`);
      writeFileSync(
        join(folder, 'node_modules/playwright/cli.js'),
        `process.exitCode = require('node:child_process').spawnSync('${join(folder, 'fetch')}').status;`,
      );
      const script = `import('./scripts/browser.mjs').then(({ provideChromium }) => provideChromium('${folder}'))`;
      const env = { PATH: folder, HOME: folder, PLAYWRIGHT_BROWSERS_PATH: join(folder, 'browsers') };
      const { stderr } = spawnSync(process.execPath, ['-e', script], { cwd: root, env, encoding: 'utf8' });
      assert.equal(stderr, '');
      const ran = [...new Set(readFileSync(log, 'utf8').trim().split('\n'))];
      // Only root can install packages, and only on Debian.
      const mayInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version');
      assert.deepEqual(ran, mayInstall ? expected : ['download']);
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
