// The build of `dist/cdn`: a first file, and parts that it loads with the hashes that it has of them (`src/cdn/part-loader.ts`).
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Name of the first file. The names of the parts have hashes, so that a page that was opened before a release gets its own files.
 */
export const FIRST_FILE = 'secure-uploader.min.js';

const integrityOf = (text) => `sha384-${createHash('sha384').update(text).digest('base64')}`;
const idOf = (fileName) => `./${fileName}`;

/** Resolves with the code of a worker, without imports. */
export async function workerCode(path) {
  const bundle = await rolldown({ input: path, platform: 'browser', logLevel: 'warn' });
  const { output } = await bundle.generate({ format: 'es', codeSplitting: false, minify: true });
  await bundle.close();
  return output[0].code.trim();
}

/** Makes `import code from './x.ts?code'` the code of a worker as text. */
export const workerCodes = {
  name: 'worker-codes',
  enforce: 'pre',
  async load(id) {
    if (!id.endsWith('?code')) return undefined;
    return `export default ${JSON.stringify(await workerCode(id.slice(0, -'?code'.length)))};`;
  },
};

/** Returns the chunks for Rolldown: everything that `entry` imports is in the first file. */
export function chunksOf(entry) {
  let first;
  const withImports = (id, context, all = new Set()) => {
    if (all.has(id)) return all;
    all.add(id);
    for (const imported of context.getModuleInfo(id)?.importedIds ?? []) withImports(imported, context, all);
    return all;
  };
  return {
    groups: [
      {
        debugName: 'first',
        name: (id, context) => {
          first ??= withImports(entry, context);
          return first.has(id) ? 'first' : null;
        },
      },
    ],
  };
}

/**
 * Turns the chunks, which are CommonJS, into the files of `dist/cdn`. A part is a module that exports one function: `require`
 * returns the exports of a part, or a promise if it is loaded late. `banner` is the first line of each file.
 */
export const cdnParts = (banner) => ({
  name: 'cdn-parts',
  writeBundle({ dir }, bundle) {
    const chunks = Object.values(bundle).filter(({ type }) => type === 'chunk');
    /** Writes a wrapped chunk, and its source map. `nameOf` returns the name of the file for its text. */
    const write = ({ fileName, map }, before, after, nameOf) => {
      const path = join(dir, fileName);
      const code = readFileSync(path, 'utf8').replace(/\s*\/\/# sourceMappingURL=\S+\s*$/, '');
      const body = `${banner}\n${before}\n${code}\n${after}\n`;
      const name = nameOf(body);
      const text = map ? `${body}//# sourceMappingURL=${name}.map\n` : body;
      const added = ';'.repeat(before.split('\n').length + 1);
      const moved = map && JSON.parse(readFileSync(`${path}.map`, 'utf8'));
      for (const old of [path, `${path}.map`]) rmSync(old, { force: true });
      writeFileSync(join(dir, name), text);
      if (map)
        writeFileSync(
          join(dir, `${name}.map`),
          JSON.stringify({ ...moved, mappings: added + moved.mappings }),
        );
      return { name, integrity: integrityOf(text) };
    };
    const first = chunks.find(({ isEntry }) => isEntry);
    const parts = {};
    for (const chunk of chunks) {
      if (chunk === first) continue;
      // With a hash of all that the file contains: two versions with the same code differ in the banner.
      const nameOf = (text) =>
        `${chunk.name}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.js`;
      // In parentheses, so that browsers compile the function while the file arrives, and not when it is called.
      const { name, integrity } = write(chunk, 'export default(function(require,exports){', '})', nameOf);
      const needs = chunk.imports.filter((fileName) => fileName !== first.fileName);
      parts[idOf(chunk.fileName)] = [name, integrity, needs.map(idOf)];
    }
    if (first.imports.length > 0) throw new Error(`${first.fileName} needs ${first.imports}`);
    write(
      first,
      [
        `const parts=${JSON.stringify(parts)},modules={};let load;const require=(id)=>modules[id]??load(id);`,
        `(function(require,exports){`,
      ].join('\n'),
      [
        `})(require,modules["${idOf(first.fileName)}"]={});`,
        `const{SecureUploader,createPartLoader}=modules["${idOf(first.fileName)}"];`,
        'load=createPartLoader({parts,modules,base:import.meta.url,importModule:(url)=>import(url)});',
        'export{SecureUploader};',
      ].join('\n'),
      () => first.fileName,
    );
  },
});
