// Form values in the history of the browser, which restores them after "Back", a reload or a restart, also for another user.

import { currentPeriod } from '../engine/period.ts';

/** The form value of an uploaded file. */
export interface FileValue {
  readonly value: string | File;
  /** The period in which the file was uploaded; `undefined` if the value can't be restored. */
  readonly period: string | undefined;
}

/** Key of a value that is saved. A period has no space. */
const keyOf = (period: string, owner: string): string => `secure-uploader ${period} ${owner}`;

/** Values that the browser restored, with their keys. Their files are not in the list. */
export class RestoredValues {
  #entries: readonly (readonly [key: string, value: string])[] = [];

  /** Takes what the browser restored. */
  read(state: FormData): void {
    this.#entries = [...state].flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : []));
  }

  drop(): void {
    this.#entries = [];
  }

  /** Number of values, with those that wait for their owner. */
  get count(): number {
    return this.#entries.length;
  }

  /**
   * Returns the values of `owner`. Forgets all values that were saved before the last sign-out, and those of other owners; without
   * an owner, these wait until the page names its owner.
   */
  valuesOf(owner: string): readonly string[] {
    if (this.count === 0) return [];
    const period = currentPeriod();
    const ownKey = keyOf(period ?? '', owner);
    this.#entries = this.#entries.filter(
      ([key]) => period && (key === ownKey || (owner === '' && key.startsWith(ownKey))),
    );
    return this.#entries.flatMap(([key, value]) => (key === ownKey ? [value] : []));
  }

  /**
   * Returns what the browser has to restore: the values that it restored before, and those of the files of `owner`. Nothing if
   * these can't all be restored: browsers restore no files.
   */
  stateWith(files: readonly FileValue[], owner: string): FormData {
    const state = new FormData();
    if (files.some(({ value, period }) => typeof value !== 'string' || !period)) return state;
    for (const [key, value] of this.#entries) state.append(key, value);
    for (const { value, period = '' } of files) state.append(keyOf(period, owner), value as string);
    return state;
  }
}
