// `npm run bench [profile ...]`: compares the widget with its peers, with the same files and the same sink. This file reads the
// command line and installs missing dependencies, so it may import only node: modules. bench.mjs runs the profiles.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { install } from './install.mjs';

const usage = `npm run bench -- [profile ...] [options]

  profiles            loopback, gbit, wan (these three by default), far, thin, photos, small, tiny, tiny-far,
                      again, lossy, broken, shift, h2, mixed, huge, endless; or all
  --rounds=3          rounds; each runs every client once, the median counts
  --clients=a,b       only these clients (--clients=list names them)
  --size=512MB        another size for each file than the profile's (KB, MB, GB of a thousand; KiB, MiB, GiB)
  --files=1000        another number of files than the profile's
  --json=path         where the figures go as JSON (default: test/bench/results/latest.json)
  --compare=path      also time the sources of another checkout, as the client secure-uploader@compared
  --trace             also measure the longest task of the page's thread in processor time (slower)
  --docs              write the results to docs/performance.md
  --dist              time the built package (dist/cdn) instead of a bundle made from src
  --quick             one round of a small file, to see that everything runs`;

function readCommandLine() {
  const text = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  const options = {
    rounds: text,
    clients: text,
    size: text,
    files: text,
    json: text,
    compare: text,
    dist: flag,
    trace: flag,
    docs: flag,
    quick: flag,
    help: flag,
  };
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    console.error(`${error.message}\n\n${usage}`);
    return process.exit(2);
  }
}

const { values, positionals } = readCommandLine();
if (values.help) {
  console.log(usage);
} else {
  install(fileURLToPath(new URL('.', import.meta.url)));
  const { bench } = await import('./bench.mjs');
  process.exitCode = await bench({ ...values, profiles: positionals });
}
