// Rows that have no file: of an earlier visit, or because it cannot be read any more. They are found by the place that their
// file goes to, however many there are.

import { identityOf, placeOf } from './candidate.ts';
import type { Row } from './row.ts';

export class WaitingRows {
  readonly #places = new Map<Row, string>();
  readonly #rows = new Map<string, Set<Row>>();

  get isEmpty(): boolean {
    return this.#places.size === 0;
  }

  get all(): readonly Row[] {
    return [...this.#places.keys()];
  }

  /** Those whose file goes there, the first one first. */
  at(place: string): readonly Row[] {
    return [...(this.#rows.get(place) ?? [])];
  }

  has(row: Row): boolean {
    return this.#places.has(row);
  }

  add(row: Row): void {
    const { lost, records } = row;
    const file = records.record ?? (lost && { ...row, ...identityOf(lost.file) });
    if (!file) return;
    const place = placeOf(file);
    this.#places.set(row, place);
    this.#rows.set(place, (this.#rows.get(place) ?? new Set()).add(row));
  }

  delete(row: Row): void {
    const place = this.#places.get(row);
    if (place === undefined) return;
    this.#places.delete(row);
    const rows = this.#rows.get(place);
    rows?.delete(row);
    if (rows?.size === 0) this.#rows.delete(place);
  }
}
