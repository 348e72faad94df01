// Loads the parts of `dist/cdn`. The first file has the hash of each part, so the `integrity` of its `<script>` covers all parts.

import { trustUrl } from '../core/trusted.ts';
import { abortable } from '../core/wait.ts';

/** File name, hash for `integrity`, and the ids of the parts that have to run before. */
type Part = readonly [file: string, integrity: string, needs: readonly string[]];
export type PartList = Readonly<Record<string, Part>>;

/** Returns the exports of a part that has run, or a promise of them. */
type Require = (id: string) => object | Promise<object>;
/** A part: runs its code once, and adds what it exports to `exports`. */
type RunPart = (require: Require, exports: object) => void;

export interface PartLoaderOptions {
  /** All parts, by id. */
  readonly parts: PartList;
  /** Exports of the parts that have run, by id. Also has those of the first file. */
  readonly modules: Record<string, object>;
  /** URL of the first file. The parts are beside it. */
  readonly base: string;
  /** Imports a module that the page has loaded. */
  readonly importModule: (url: string) => Promise<{ readonly default: RunPart }>;
}

/**
 * Longest time for loading a part, in milliseconds. The next attempt has another URL, so it does not wait for the same response.
 */
const LOAD_MS = 120_000;

let firstFile: string | undefined;

/** Returns the URL of a file beside the first one. */
export const besideFirstFile = (file: string): string => new URL(file, firstFile).href;

/**
 * Returns a function that loads a part, and those it needs. A part that could not be loaded is requested again by the next call.
 */
export function createPartLoader({ parts, modules, base, importModule }: PartLoaderOptions): Require {
  const loading = new Map<string, Promise<object>>();
  const failureCounts = new Map<string, number>();
  const nonce = findNonce(base);
  firstFile = base;

  const require: Require = (id) => modules[id] ?? load(id);

  function load(id: string): Promise<object> {
    const runningLoad = loading.get(id);
    if (runningLoad !== undefined) return runningLoad;
    const part = parts[id];
    if (!part) return Promise.reject(new TypeError(`${id} is not a part`));
    const partExports = run(id, part).finally(() => loading.delete(id));
    loading.set(id, partExports);
    return partExports;
  }

  async function run(id: string, [file, integrity, needs]: Part): Promise<object> {
    const [runPart] = await Promise.all([request(id, file, integrity), ...needs.map(require)]);
    const exports = {};
    runPart(require, exports);
    modules[id] = exports;
    return exports;
  }

  /** Loads the script of a part with its hash. The import then gets the module that the page already has. */
  async function request(id: string, file: string, integrity: string): Promise<RunPart> {
    const failureCount = failureCounts.get(id) ?? 0;
    // Firefox never loads a URL of a module again that has failed.
    const { href } = new URL(failureCount === 0 ? file : `${file}?${failureCount}`, base);
    try {
      await addScript(href, integrity, nonce);
      return (await importModule(href)).default;
    } catch (cause) {
      failureCounts.set(id, failureCount + 1);
      throw new TypeError(`${href} could not be loaded, or is not the file of this version`, { cause });
    }
  }

  return require;
}

/** Returns the nonce of the script that loaded the first file, or else of any other one. */
function findNonce(base: string): string {
  const scripts = [...document.scripts].filter((script) => script.nonce);
  return (scripts.find(({ src }) => src === base) ?? scripts[0])?.nonce ?? '';
}

/** Adds a module to the page, and resolves when it has run. The browser runs only the file with this hash. */
function addScript(href: string, integrity: string, nonce: string): Promise<void> {
  const script = document.createElement('script');
  Object.assign(script, {
    type: 'module',
    crossOrigin: 'anonymous',
    integrity,
    nonce,
    src: trustUrl(href, true),
  });
  const scriptLoad = new Promise<void>((resolve, reject) => {
    script.onload = () => resolve();
    script.onerror = reject;
    document.head.append(script);
  });
  return abortable(scriptLoad, AbortSignal.timeout(LOAD_MS)).finally(() => script.remove());
}
