// Authorization requests that redirect mode stores while the user is on the sign-in page.

/** Prefix of the keys of stored authorization requests. `callback.ts` has a copy. */
export const STORED = 'secure-uploader:redirect:';

export function dropTransactions(): void {
  for (const name of Object.keys(sessionStorage))
    if (name.startsWith(STORED)) sessionStorage.removeItem(name);
}
