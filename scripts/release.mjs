// Names what a release needs and only the owner of the project can fill in. `.github/workflows/release.yml` runs it first, and ends
// if something is missing. `npm run verify` only prints it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WORKFLOWS = '.github/workflows';

/** Returns the text of a section of a document, without its heading; empty if there is none. */
const sectionOf = (text, heading) =>
  text
    .split(/^## /m)
    .find((section) => section.startsWith(`${heading}\n`))
    ?.slice(heading.length) ?? '';

/** Returns one sentence for each thing that is missing in the project at `root`. */
export function missingForRelease(root) {
  const read = (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '');
  const { repository, bugs } = JSON.parse(read('package.json'));
  const security = read('SECURITY.md');
  const workflows = existsSync(join(root, WORKFLOWS)) ? readdirSync(join(root, WORKFLOWS)) : [];
  const images = workflows.flatMap((name) =>
    [...read(`${WORKFLOWS}/${name}`).matchAll(/^ *(?:container|image): *([^\s#]+)/gm)].map(([, image]) => ({
      name,
      image,
    })),
  );
  return [
    !repository?.url && 'package.json: `repository.url`. npm refuses provenance without it',
    !bugs?.url && !bugs?.email && 'package.json: `bugs`, where defects are reported',
    !/https:\/\/\S|\S@\S/.test(sectionOf(security, 'Reporting a vulnerability')) &&
      'SECURITY.md, "Reporting a vulnerability": an address, as a URL or an email',
    !sectionOf(security, 'Supported versions').trim() &&
      'SECURITY.md: a section "Supported versions", which says what gets fixes, and for how long',
    !/^\S+ +@\S/m.test(read('.github/CODEOWNERS')) &&
      '.github/CODEOWNERS: who reviews changes, at least of .github, package-lock.json and src/auth',
    ...images.map(
      ({ name, image }) =>
        !/@sha256:[0-9a-f]{64}$/.test(image) &&
        `${WORKFLOWS}/${name}: the digest of the image ${image} (${image}@sha256:…), since a tag can be moved`,
    ),
  ].filter(Boolean);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const missing = missingForRelease(fileURLToPath(new URL('..', import.meta.url)));
  for (const sentence of missing) console.error(`missing for a release: ${sentence}`);
  process.exitCode = missing.length > 0 ? 1 : 0;
}
