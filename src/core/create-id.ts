// Random ids.

/** Returns an id of 128 random bits. Does not use `crypto.randomUUID`, which exists only in secure contexts. */
export const createId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');
