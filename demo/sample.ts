// A file of random bytes, for visitors without one at hand. After a reload, the same bytes are made again, as if the visitor had
// chosen the file again.

import type { SecureUploader } from 'secure-uploader';

const MIB = 1024 * 1024;
const SIZE_MIB = 80;
const KEY = 'secure-uploader-demo:sample';

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
  return new File(parts, `sample-${seed}.bin`, { lastModified: 0 });
}

/** Adds a sample when the button is clicked, and after a reload the one that is not uploaded yet. */
export function offerSample(element: SecureUploader, button: HTMLElement): void {
  const add = async (seed: number): Promise<void> => {
    sessionStorage.setItem(KEY, String(seed));
    await element.addFiles([await sampleFile(seed)]);
  };
  button.addEventListener(
    'click',
    () => void add(1 + ((crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % 1e6)),
  );
  for (const name of ['upload-completed', 'upload-canceled'] as const)
    element.addEventListener(name, ({ detail }) => {
      if (detail.name === `sample-${sessionStorage.getItem(KEY)}.bin`) sessionStorage.removeItem(KEY);
    });
  const unfinished = Number(sessionStorage.getItem(KEY));
  if (unfinished) void add(unfinished);
}
