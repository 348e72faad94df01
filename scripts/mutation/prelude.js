// Module that every bundle imports first, in test pages and their windows, frames and workers.
// `JOB` is replaced by `{active, limit}`.
if (!globalThis.__isMutant) {
  const { active, limit } = JOB;
  let left = limit;
  const report =
    globalThis.__mutantReached ??
    (() => {
      const channel = new BroadcastChannel('secure-uploader-mutants');
      // A loop over the bytes of a photo reaches a mutant a million times: one message for all of them.
      const counts = new Map();
      const flush = () => {
        channel.postMessage([...counts]);
        counts.clear();
      };
      return (id) => {
        if (counts.size === 0) queueMicrotask(flush);
        counts.set(id, (counts.get(id) ?? 0) + 1);
      };
    })();
  globalThis.__isMutant = (id) => {
    if (active === 0) report(id);
    if (id !== active) return false;
    if (left-- < 0) throw new Error('The mutant runs without end');
    return true;
  };
}
