// How rows come into the list: files that are picked now, and uploads of an earlier visit that wait for their file. It
// knows nothing of runs but that rows are handed to them.

import type { Candidate, ChangeMap } from '../core/changes.ts';
import type { FileId, PickedFile, UploadRecord } from '../core/types.ts';
import { inSlices } from '../core/wait.ts';
import { refusal } from '../pipeline/pick.ts';
import { identify, isSameFile, recordKey } from '../store/identity.ts';
import type { UploadStore } from '../store/uploads.ts';
import { askFor, candidateOf, identityOf, limitsOf, parentOf, placeOf, readPicked } from './candidate.ts';
import type { Connection } from './connection.ts';
import { createId } from './create-id.ts';
import type { KeptFiles, LeftBehind } from './kept-files.ts';
import { RowRecords, type Taken } from './records.ts';
import type { SnapshotKeeper } from './reducer.ts';
import { Row } from './row.ts';
import type { Runs } from './runs.ts';
import type { Place, Shared } from './shared.ts';

export interface IntakeParts {
  readonly keeper: SnapshotKeeper;
  readonly runs: Runs;
  readonly shared: Shared;
  readonly store: UploadStore;
  readonly kept: KeptFiles;
}

export class Intake {
  readonly #parts: IntakeParts;
  readonly #taken: Taken = new Map();
  /** Rows that have no file: of an earlier visit, or because it cannot be read any more. */
  readonly #waiting = new Set<Row>();
  /** How often an owner has left: nothing that was looked up before is shown after. */
  #leftCount = 0;
  #order = 0;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    parts.runs.turns.onLost = (row) => this.#waiting.add(row);
  }

  /** Takes files, or refuses each with its reason. A file that a row of an earlier visit waits for goes there. */
  async add(
    files: Iterable<PickedFile | File>,
    connection: Connection,
    mayAdd: (file: Candidate) => boolean,
  ): Promise<void> {
    const { settings } = connection;
    const limits = limitsOf(connection);
    const rows = this.#places();
    let takenCount = this.#countTaken(settings.multiple);
    const take = (item: PickedFile | File): void => {
      const picked = readPicked(item);
      const candidate = candidateOf(picked);
      const waiting = this.#waitingForPicked(rows, picked, connection);
      const refused = waiting ? undefined : refusal(picked, limits, takenCount);
      if (waiting) this.#give(waiting, picked);
      else if (refused) this.#refuse(candidate, refused);
      else if (mayAdd(candidate)) {
        takenCount += 1;
        this.#take(picked, candidate, connection);
      }
    };
    await inSlices(files, take, () => {
      this.#parts.runs.turns.pump();
      takenCount = this.#countTaken(settings.multiple);
    });
    this.#parts.runs.turns.pump();
  }

  /** Rows for uploads that an earlier visit began here: paused, until their file is there again. */
  async restore(connection: Connection): Promise<void> {
    const { kept, runs, shared, store } = this.#parts;
    const leftCount = this.#leftCount;
    // Settings often come in pieces: a row that nobody has touched goes by the newest.
    await inSlices(this.#waiting, (row) => {
      const { record } = row.records;
      if (runs.get(row.id) !== row) this.#waiting.delete(row);
      else if (record && !row.picked && belongsTo(record, connection)) row.connection = connection;
    });
    if (connection.settings.noResume) return;
    await kept.restore(connection, (files) => this.#restoreKept(files, connection)).catch(() => undefined);
    const records = await store.list().catch(() => []);
    const isTaken = await shared.tabs.listTaken();
    let listed = this.#listed();
    const restore = (record: UploadRecord): void => {
      const isHere = this.#taken.has(record.key) || isTaken(record.key) || listed.has(placeOf(record));
      if (isHere || this.#leftCount !== leftCount) return;
      if (belongsTo(record, connection)) this.#restoreRow(record, connection);
    };
    await inSlices(records, restore, () => {
      listed = this.#listed();
    });
  }

  /** Files that came before the uploads of an earlier visit were known: those they are finds their run. */
  #listed(): ReadonlySet<string> {
    const listed = new Set<string>();
    for (const { id, phase } of this.#parts.keeper.files) {
      const row = phase === 'failed' || phase === 'canceled' ? undefined : this.#parts.runs.get(id);
      if (row?.picked) listed.add(placeOf({ ...row, ...identityOf(row.picked.file) }));
    }
    return listed;
  }

  /** The rows of an owner are no longer to be seen. Those that came before there was one stay with whoever picked them. */
  leaveOwner(owner: string): Promise<void> {
    const { runs } = this.#parts;
    this.#leftCount += 1;
    this.#parts.kept.leave();
    const gone = runs.all.filter((row) => owner !== '' || (this.#waiting.has(row) && !row.lost));
    for (const row of gone) this.#waiting.delete(row);
    return runs.leave(gone);
  }

  /**
   * Gives a row its file. Another file is refused (`wrong-file`), by name, size, time and first bytes (by name and size where the
   * record was forgotten), and the row goes on waiting. One that was lost on this visit may have changed since: it goes up anew.
   */
  async provide(id: FileId, item: PickedFile | File): Promise<void> {
    const row = this.#parts.runs.get(id);
    if (!row || row.picked) return;
    const { record } = row.records;
    const picked = readPicked(item);
    const { signal } = new AbortController();
    const found = await identify(picked.file, row.connection.pool.hashSmall, signal).catch(() => undefined);
    // Somebody else may have brought it meanwhile, or given it up.
    if (!this.#waiting.has(row) || this.#parts.keeper.file(id)?.phase !== 'paused') return;
    if (found && isSameFile({ ...found, name: row.ownName, sizeBytes: row.sizeBytes, ...record }, found))
      this.#give(row, picked);
    else if (found && row.lost && found.name === row.ownName) this.#replace(row, picked);
    else this.#refuse(candidateOf(picked), { code: found ? 'wrong-file' : 'file-unreadable' });
  }

  /** Asks the browser for the file of a row whose handle was kept. To be called in the click; true where it came. */
  async ask(id: FileId): Promise<boolean> {
    const row = this.#parts.runs.get(id);
    const handle = row?.records.record?.handle ?? row?.lost?.handle;
    const picked = handle && (await askFor(handle));
    if (picked) await this.provide(id, picked);
    return picked !== undefined;
  }

  #take(
    picked: PickedFile,
    candidate: Candidate,
    connection: Connection,
    parentId = parentOf(picked, connection),
  ): void {
    const { kept, shared } = this.#parts;
    if (!parentId) shared.warn('parent-id is not set, and parentFor gives none.');
    const records = this.#records(connection);
    records.kept = kept.add(picked.file, picked.relativePath, parentId, connection);
    this.#append({ ...candidate, parentId }, picked, connection, records);
  }

  /** Files that were kept themselves wait for nobody but the person who paused them. */
  #restoreKept(files: readonly LeftBehind[], connection: Connection): void {
    const { runs } = this.#parts;
    const listed = this.#listed();
    const rows = this.#places();
    for (const { file, relativePath, parentId, newName, session, isPaused, handle } of files) {
      const picked = { file, relativePath };
      const at = placeOf({ ...identityOf(file), relativePath, parentId });
      const waiting = this.#waitingFor(rows, at, connection);
      if (!waiting && listed.has(at)) {
        // It was picked again, and is kept again.
        handle.drop();
        continue;
      }
      const place = { ...candidateOf(picked), parentId };
      const row = waiting ?? this.#append(place, picked, connection, this.#records(connection));
      if (newName) row.rename(newName);
      row.session = session;
      row.records.kept = handle;
      this.#waiting.delete(row);
      row.give(picked);
      if (isPaused) void runs.pause(row.id);
      else if (waiting) runs.proceed(row);
    }
    runs.turns.pump();
  }

  #restoreRow(record: UploadRecord, connection: Connection): void {
    const { name, newName, relativePath, sizeBytes, type, parentId } = record;
    const records = this.#records(connection, record);
    const row = this.#append(
      { name, relativePath, sizeBytes, type, parentId },
      undefined,
      connection,
      records,
    );
    this.#waiting.add(row);
    if (newName) row.rename(newName);
    row.showRecord(record);
    this.#parts.shared.report({ name: 'upload-paused', detail: { id: row.id, reason: 'needs-file' } });
  }

  #append(
    file: Candidate & { readonly parentId: string },
    picked: PickedFile | undefined,
    connection: Connection,
    records: RowRecords,
  ): Row {
    const { runs, shared } = this.#parts;
    const id = createId();
    this.#order += 1;
    const place: Place = { ...file, order: this.#order };
    const row = new Row(id, picked, place, connection, records, shared);
    runs.add(row);
    shared.report({ name: 'file-added', detail: { id, ...file } });
    return row;
  }

  #records({ settings }: Connection, record?: UploadRecord): RowRecords {
    const { shared, store } = this.#parts;
    return new RowRecords(settings.noResume ? undefined : store, this.#taken, shared.tabs, record);
  }

  /** The rows that wait, by where their file goes: looked up once for many files. */
  #places(): Places {
    const places = new Map<string, Row[]>();
    for (const row of this.#waiting) {
      const { lost, records } = row;
      const file = records.record ?? (lost && { ...row, ...identityOf(lost.file) });
      if (!file) continue;
      const place = placeOf(file);
      places.set(place, [...(places.get(place) ?? []), row]);
    }
    return places;
  }

  /** The row of an earlier visit that this file, for this place, may be for: its first bytes are compared when the run opens. */
  #waitingForPicked(rows: Places, picked: PickedFile, connection: Connection): Row | undefined {
    if (rows.size === 0) return undefined;
    const place = { ...identityOf(picked.file), ...picked, parentId: parentOf(picked, connection) };
    return this.#waitingFor(rows, placeOf(place), connection);
  }

  #waitingFor(rows: Places, place: string, connection: Connection): Row | undefined {
    for (const row of rows.get(place) ?? []) {
      const { record } = row.records;
      // Others have their file by now, or were removed, given up, or uploaded by another tab.
      if (!this.#waiting.has(row) || this.#parts.keeper.file(row.id)?.phase !== 'paused') continue;
      if (record ? belongsTo(record, connection) : row.lost && row.connection === connection) return row;
    }
    return undefined;
  }

  /** The file was lost on this visit, and is another one now than was begun: it goes up anew in the same folder. */
  #replace(row: Row, { file, handle }: PickedFile): void {
    const picked = { file, relativePath: row.relativePath, ...(handle && { handle }) };
    const refused = refusal(picked, limitsOf(row.connection), 0);
    if (refused) {
      this.#refuse(candidateOf(picked), refused);
      return;
    }
    this.#waiting.delete(row);
    this.#take(picked, candidateOf(picked), row.connection, row.parentId);
    this.#parts.runs.replace(row);
  }

  #give(row: Row, picked: PickedFile): void {
    this.#waiting.delete(row);
    row.give(picked);
    this.#parts.runs.proceed(row);
  }

  #refuse(file: Candidate, why: { code: ChangeMap['file-rejected']['code']; limit?: number | string }): void {
    const { name, relativePath, sizeBytes } = file;
    this.#parts.shared.report({
      name: 'file-rejected',
      detail: { id: createId(), name, relativePath, sizeBytes, ...why },
    });
  }

  #countTaken(isMultiple: boolean): number {
    let count = 0;
    for (const { phase } of this.#parts.keeper.files) {
      if (phase === 'failed' || phase === 'canceled' || (!isMultiple && phase === 'done')) continue;
      count += 1;
    }
    return count;
  }
}

type Places = ReadonlyMap<string, readonly Row[]>;

/** True where the record was made for this service, client and owner, with the same hash. */
const belongsTo = (record: UploadRecord, { settings }: Connection): boolean =>
  record.hashAlgorithm === settings.hash && record.key === recordKey({ ...settings, ...record });
