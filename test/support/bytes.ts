// Deterministic bytes from a seed, and their hashes.

/** Returns pseudo-random bytes (mulberry32). Equal seeds give equal bytes. */
export function bytesOf(seed: number, sizeBytes: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(sizeBytes / 4));
  let state = seed >>> 0;
  for (let at = 0; at < words.length; at += 1) {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    words[at] = (mixed ^ (mixed >>> 14)) >>> 0;
  }
  return new Uint8Array(words.buffer, 0, sizeBytes);
}

/** Returns a file whose bytes depend only on `seed`. */
export function fileOf(seed: number, sizeBytes: number, name = `file-${seed}.bin`): File {
  return new File([bytesOf(seed, sizeBytes)], name, { lastModified: 1_700_000_000_000 });
}

/** Returns a file with bytes that no other run or test uses. */
export function freshFile(sizeBytes: number, name = `${crypto.randomUUID()}.bin`): File {
  const [seed = 0] = crypto.getRandomValues(new Uint32Array(1));
  return fileOf(seed, sizeBytes, name);
}

/** Returns the SHA-256 hash in lower-case hex, computed by the browser. */
export async function sha256(bytes: Blob | Uint8Array<ArrayBuffer>): Promise<string> {
  const buffer = bytes instanceof Blob ? await bytes.arrayBuffer() : bytes;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', buffer));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
