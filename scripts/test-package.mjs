// `npm run test:package`: tests the packed package, and builds each project of demo/examples with it. Arguments after `--` are
// names of projects: only these are built.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const names = process.argv.slice(2);
const options = ['--import', 'tsx', '--test', '--test-reporter=spec'];
for (const name of [...(names.length ? [] : ['loaded']), 'examples']) {
  const { status } = spawnSync(process.execPath, [...options, `test/package/${name}.test.ts`], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
    env: { ...process.env, EXAMPLES: names.join() },
  });
  if (status !== 0) process.exitCode = 1;
}
