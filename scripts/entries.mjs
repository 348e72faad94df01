// The entries of the package.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Returns `exports` of the package in `folder` as pairs of an entry and its targets. A pattern, such as `./locales/*`, becomes one
 * entry for each built file, except for those whose targets are `null`.
 */
export function listEntries(folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.entries(exports).flatMap(([entry, targets]) => {
    if (targets === null) return [];
    if (!entry.includes('*')) return [[entry, targets]];
    const names = readdirSync(join(folder, dirname(targets.default))).filter((name) => name.endsWith('.js'));
    return names.sort().flatMap((file) => {
      const name = file.slice(0, -'.js'.length);
      const fill = (text) => text.replace('*', name);
      if (exports[fill(entry)] === null) return [];
      return [[fill(entry), { types: fill(targets.types), default: fill(targets.default) }]];
    });
  });
}
