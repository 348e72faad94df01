/** A `File` of another document is no instance of this `File`. */
export const isFile = (value: unknown): value is File =>
  Object.prototype.toString.call(value) === '[object File]';

/** Copies a list of files, because a page that clears its file input also empties the `FileList`. Anything else becomes a list. */
export const listOf = <T extends object>(source: Iterable<T> | T): T[] =>
  typeof source === 'object' && source && Symbol.iterator in source ? [...source] : [source as T];
