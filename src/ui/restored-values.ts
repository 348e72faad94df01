// Form values in the history of the browser, which restores them after "Back", a reload or a restart, also for another user.

import type { CurrentUser, Mark } from '../core/user.ts';

/** The form value of an uploaded file. */
export interface FileValue {
  readonly value: string | File;
  /** Whose value it is, when the file was uploaded; `undefined` if the value can't be restored. */
  readonly mark: Mark | undefined;
}

const PREFIX = 'secure-uploader';
/** Key of a value that is saved. A period has no space. */
const keyOf = ({ period, owner }: Mark): string => `${PREFIX} ${period} ${owner}`;

function readKey(key: string): Mark | undefined {
  const [prefix, period, ...owner] = key.split(' ');
  return prefix === PREFIX && period && owner.length > 0 ? { period, owner: owner.join(' ') } : undefined;
}

/** Values that the browser restored, with their marks. Their files are not in the list. */
export class RestoredValues {
  readonly #user: CurrentUser;
  #entries: readonly { readonly mark: Mark; readonly value: string }[] = [];

  constructor(user: CurrentUser) {
    this.#user = user;
  }

  /** Takes what the browser restored. */
  read(state: FormData): void {
    this.#entries = [...state].flatMap(([key, value]) => {
      const mark = readKey(key);
      return mark && typeof value === 'string' ? [{ mark, value }] : [];
    });
  }

  drop(): void {
    this.#entries = [];
  }

  /** Number of values, with those that wait for their owner. */
  get count(): number {
    return this.#entries.length;
  }

  /** The values of the user of now. All those of others are forgotten. */
  get values(): readonly string[] {
    if (this.count === 0) return [];
    const entries = this.#entries.map((entry) => ({ ...entry, owned: this.#user.owns(entry.mark) }));
    const keptEntries = entries.filter(({ owned }) => owned !== 'no');
    if (keptEntries.length < entries.length) this.#entries = keptEntries;
    return keptEntries.flatMap(({ owned, value }) => (owned === 'yes' ? [value] : []));
  }

  /**
   * Returns what the browser has to restore: the values that it restored before, and those of the files. Nothing if these can't all
   * be restored: browsers restore no files. The owner may have been named after the upload.
   */
  stateWith(files: readonly FileValue[]): FormData {
    const { owner } = this.#user;
    const state = new FormData();
    if (files.some(({ value, mark }) => typeof value !== 'string' || !mark)) return state;
    for (const { mark, value } of this.#entries) state.append(keyOf(mark), value);
    for (const { value, mark } of files) if (mark) state.append(keyOf({ ...mark, owner }), value as string);
    return state;
  }
}
