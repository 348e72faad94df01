// The requests and responses of the service that is checked, written and read as the uploader does.

import type { HashOfChunk } from '../core/types.ts';
import type { FullProfile } from '../service/profile.ts';
import {
  commitBody,
  encodeHash,
  entryFinder,
  isFields,
  presignBody,
  readChunks,
  readReceipt,
  sessionHeaderOf,
} from '../service/wire.ts';
import { answerFor, type Exchange } from './exchange.ts';

/** A chunk that the checks create. */
export interface Piece extends HashOfChunk {
  readonly bytes: Uint8Array;
}

/** What the service returned for a chunk. */
export interface Entry {
  readonly url: string | undefined;
  /** Empty without a valid one. */
  readonly receipt: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A session whose chunks are presigned. */
export interface Upload {
  readonly session: string;
  readonly pieces: readonly Piece[];
  readonly entries: readonly (Entry | undefined)[];
  readonly presignResponse: Exchange;
}

/** Returns the entries of the chunks in a response as they are. */
export const chunksOf = (response: Exchange): Readonly<Record<string, unknown>> | undefined =>
  readChunks(answerFor(undefined, response));

export class Dialect {
  readonly profile: FullProfile;
  readonly #origin: string | undefined;

  /** `origin` is that of the page, which can read only the headers that are exposed. */
  constructor(profile: FullProfile, origin: string | undefined) {
    this.profile = profile;
    this.#origin = origin;
  }

  sessionOf(response: Exchange): string | undefined {
    return sessionHeaderOf(answerFor(this.#origin, response), this.profile) || undefined;
  }

  encode(hash: string): string {
    return encodeHash(hash, this.profile.hashEncoding);
  }

  presignBody(chunks: readonly HashOfChunk[]): object {
    return presignBody(chunks, this.profile);
  }

  /** Returns the body of the commit. A chunk without a receipt gets an empty one. */
  commitBody({ pieces, entries }: Upload): object {
    const hashes = pieces.map(({ hash }) => hash);
    return commitBody({ hashes, receipts: entries.map((entry) => entry?.receipt ?? '') }, this.profile);
  }

  entriesOf(response: Exchange, pieces: readonly Piece[]): (Entry | undefined)[] {
    const find = entryFinder(chunksOf(response) ?? {}, pieces.length, this.profile);
    return pieces.map(({ hash }, position) => {
      const fields = find(this.encode(hash), position);
      if (!isFields(fields)) return undefined;
      const { upload_url: url } = fields;
      const hasUrl = typeof url === 'string' && url !== '';
      return { url: hasUrl ? url : undefined, receipt: readReceipt(fields) ?? '', fields };
    });
  }
}
