// Files that are read slowly, as from a network drive. Nothing on this level slows down a single file, so reads are delayed in the
// page: its own reads, and messages that contain a slice of the file to a worker.

/** Limits the rate at which these files are read, in total. */
export function readSlowly(files, bytesPerSecond) {
  const sizes = new WeakMap();
  let freeAtMs = 0;
  const wait = (blob) => {
    const nowMs = performance.now();
    freeAtMs = Math.max(freeAtMs, nowMs) + (sizes.get(blob) / bytesPerSecond) * 1000;
    return new Promise((resolve) => setTimeout(resolve, freeAtMs - nowMs));
  };
  for (const file of files) {
    const { slice } = file;
    file.slice = (...range) => {
      const part = slice.apply(file, range);
      sizes.set(part, part.size);
      const { arrayBuffer } = part;
      part.arrayBuffer = () => wait(part).then(() => arrayBuffer.call(part));
      part.stream = () => {
        throw new TypeError('Use arrayBuffer(), which is delayed');
      };
      return part;
    };
  }
  const slowPartOf = (message) =>
    Object.values(Object(message)).find((value) => value instanceof Blob && sizes.has(value));
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (message, ...rest) {
    const part = slowPartOf(message);
    if (part) void wait(part).then(() => postMessage.call(this, message, ...rest));
    else postMessage.call(this, message, ...rest);
  };
}
