// A file of random bytes, for visitors without one at hand. After a reload, the same bytes are made again, as if the visitor had
// chosen the file again.

import type { SecureUploader } from 'secure-uploader';

const MIB = 1024 * 1024;
const SIZE_MIB = 80;
const KEY = 'secure-uploader-demo:sample';

const nameOf = (seed: number): string => `sample-${seed}.bin`;

async function sampleFile(seed: number): Promise<File> {
  const parts: Uint32Array<ArrayBuffer>[] = [];
  let next = seed;
  for (let index = 0; index < SIZE_MIB; index += 1) {
    const words = new Uint32Array(MIB / 4);
    for (let place = 0; place < words.length; place += 1) {
      // Xorshift: https://www.jstatsoft.org/article/view/v008i14
      next ^= next << 13;
      next ^= next >>> 17;
      next ^= next << 5;
      words[place] = next;
    }
    parts.push(words);
    await new Promise((resolve) => setTimeout(resolve)); // The page stays responsive.
  }
  return new File(parts, nameOf(seed), { lastModified: 0 });
}

const read = (): number[] => {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as number[];
  } catch {
    return []; // Blocked by the browser: a reload then loses the samples.
  }
};
const write = (seeds: readonly number[]): void => {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(seeds));
  } catch {}
};

/** Adds a sample when the button is clicked, and after a reload those that are not uploaded yet. */
export async function offerSample(element: SecureUploader, button: HTMLElement): Promise<void> {
  const add = async (seed: number): Promise<void> => element.addFiles([await sampleFile(seed)]);
  button.addEventListener('click', () => {
    const seed = 1 + ((crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % 1e6);
    write([...read(), seed]);
    void add(seed);
  });
  for (const name of ['upload-completed', 'upload-canceled'] as const)
    element.addEventListener(name, ({ detail }) =>
      write(read().filter((seed) => detail.name !== nameOf(seed))),
    );
  for (const seed of read()) await add(seed);
}
