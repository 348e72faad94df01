// Describes the packages that the build contains or imports at run time: an SBOM (CycloneDX) and their licenses.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Returns the names of the run-time dependencies and of their dependencies, sorted. */
function runtimePackages(root) {
  const { packages } = readJson(join(root, 'package-lock.json'));
  const found = new Set();
  const add = (names) => {
    for (const name of names) {
      if (found.has(name)) continue;
      found.add(name);
      add(Object.keys(packages[`node_modules/${name}`].dependencies ?? {}));
    }
  };
  add(Object.keys(readJson(join(root, 'package.json')).dependencies));
  return [...found].sort();
}

/** Returns the licenses of the run-time packages as text. */
export function createNotices(root) {
  const notices = runtimePackages(root).map((name) => {
    const folder = join(root, 'node_modules', name);
    const { version, license } = readJson(join(folder, 'package.json'));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? readFileSync(join(folder, file), 'utf8').trim() : 'This package has no license file.';
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return `secure-uploader uses these packages.\n\n${notices.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

/**
 * Returns the SBOM of the run-time packages. Contains nothing that differs between two builds of the same sources, so the time is
 * left out, and the serial number is derived from the content. Throws if npm fails.
 */
export function createSbom(root) {
  const npm = process.env.npm_execpath;
  const [command, ...args] = npm?.endsWith('js') ? [process.execPath, npm] : ['npm'];
  const options = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
  const { status, stdout, stderr } = spawnSync(command, [...args, ...options], {
    cwd: root,
    // Vite sets NODE_ENV to `production`. npm would then leave out packages that development packages use, too.
    env: { ...process.env, NODE_ENV: 'development' },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
  const { metadata, components, dependencies, serialNumber: _random, ...rest } = JSON.parse(stdout);
  const { name, version } = readJson(join(root, 'package.json'));
  const names = runtimePackages(root);
  const used = components.filter((component) => names.includes(component.name));
  const refs = new Set([metadata.component['bom-ref'], ...used.map((component) => component['bom-ref'])]);
  const sbom = {
    ...rest,
    metadata: { lifecycles: metadata.lifecycles, component: { ...metadata.component, name, version } },
    components: used,
    dependencies: dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) })),
  };
  const hash = createHash('sha256').update(JSON.stringify(sbom)).digest('hex');
  // RFC 9562, version 8: a UUID of the application's own content.
  const serial = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`];
  return { ...sbom, serialNumber: `urn:uuid:${[...serial, hash.slice(20, 32)].join('-')}` };
}
