// Finds which variant of the HTTP interface the service uses: where the value of the session header is, how hashes are encoded,
// whether sizes are needed, and how the entries of chunks are named.

import { encodeHash, entryFinder } from '../service/wire.ts';
import type { Context, Piece } from './context.ts';
import { type Exchange, isExposed, isFields } from './exchange.ts';
import { isOk } from './finding.ts';

type Encoding = 'hex' | 'base64' | 'base64url';
type Fields = Readonly<Record<string, unknown>>;

export interface Dialect {
  sessionOf(opened: Exchange): string | undefined;
  encode(hash: string): string;
  bodyOf(pieces: readonly Piece[]): object;
  entryOf(chunks: Fields, count: number, piece: Piece, position: number): unknown;
  /** False if an entry of the first chunks was not found. */
  readonly hasEntries: boolean;
}

interface Place {
  /** Source of `profile.sessionHeader`; `undefined` for the default. */
  readonly source?: string;
  readonly read: (opened: Exchange) => string | undefined;
}

const HEADER = 'x-service-uploadsession';
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Returns the value that the uploader uses by default (U1). */
export function usualSession(opened: Exchange, origin: string | undefined): string | undefined {
  const { json, headers } = opened;
  const isHeaderReadable = origin === undefined || isExposed(opened, HEADER);
  const header = isHeaderReadable ? textOf(headers[HEADER]) : undefined;
  const body = isFields(json) ? json : {};
  return header ?? textOf(body.passport) ?? textOf(body.token) ?? textOf(body.session_id);
}

/** Returns the places in a body that may have the value: all strings, with their paths. */
function placesIn(body: unknown, path: readonly string[] = []): Place[] {
  if (!isFields(body) || path.length > 3) return [];
  return Object.keys(body).flatMap((key) => {
    const keys = [...path, key];
    if (textOf(body[key]) === undefined) return placesIn(body[key], keys);
    const read = ({ json }: Exchange): string | undefined =>
      textOf(keys.reduce((value: unknown, name) => (isFields(value) ? value[name] : undefined), json));
    const names = keys.map((name) =>
      /^[a-z_$][\w$]*$/i.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`,
    );
    return [{ source: `({ body }) => body${names.join('')}`, read }];
  });
}

/** Tries ways of presigning until one succeeds. Records the settings. */
export async function negotiate(context: Context): Promise<Dialect | undefined> {
  const { origin } = context.options;
  const opened = await context.opened();
  if (!isOk(opened)) return undefined;
  const usual: Place = { read: (response) => usualSession(response, origin) };
  const others = placesIn(opened.json).filter(({ read }) => read(opened) !== usual.read(opened));
  const places = [usual, ...others].filter(({ read }) => read(opened) !== undefined);
  const pieces = [context.piece(600), context.piece(400)];
  for (const place of places) {
    for (const sendSizes of [false, true]) {
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        const bodyOf = (given: readonly Piece[]): object => ({
          hashes: given.map(({ hash }) => encodeHash(hash, encoding)),
          ...(sendSizes && { sizes: given.map(({ bytes }) => bytes.length) }),
        });
        const session = place.read(opened);
        const response = await context.call('presign', { session, body: bodyOf(pieces) });
        context.firstPresign ??= response;
        if (!isOk(response) || !isFields(response.json) || !isFields(response.json.chunks)) continue;
        if (place.source) context.settings.setProfile('sessionHeader', place.source);
        if (encoding !== 'hex') context.settings.setProfile('hashEncoding', `'${encoding}'`);
        if (sendSizes) context.settings.setProfile('sendSizes', 'true');
        const encode = (hash: string): string => encodeHash(hash, encoding);
        return {
          sessionOf: place.read,
          encode,
          bodyOf,
          ...keysOf(context, response.json.chunks, pieces, encoding),
        };
      }
    }
  }
  return undefined;
}

/** Finds out which key of `chunks` belongs to which hash (U2). */
function keysOf(
  { settings }: Context,
  chunks: Fields,
  pieces: readonly Piece[],
  encoding: Encoding,
): Pick<Dialect, 'entryOf' | 'hasEntries'> {
  const usual = (fields: Fields, count: number, { hash }: Piece, position: number): unknown =>
    entryFinder(fields, count, { hashEncoding: encoding } as Parameters<typeof entryFinder>[2])(
      encodeHash(hash, encoding),
      position,
    );
  const finds = (entryOf: Dialect['entryOf']): boolean =>
    pieces.every((piece, position) => isFields(entryOf(chunks, pieces.length, piece, position)));
  if (finds(usual)) return { entryOf: usual, hasEntries: true };
  for (const { source, keyOf } of keyCandidates(Object.keys(chunks), pieces, encoding)) {
    const entryOf = (fields: Fields, _count: number, { hash }: Piece, position: number): unknown =>
      fields[keyOf(encodeHash(hash, encoding), position)];
    if (!finds(entryOf)) continue;
    settings.setProfile('chunkKey', source);
    return { entryOf, hasEntries: true };
  }
  return { entryOf: usual, hasEntries: false };
}

interface KeyCandidate {
  readonly source: string;
  readonly keyOf: (hash: string, position: number) => string;
}

function keyCandidates(
  keys: readonly string[],
  [first]: readonly Piece[],
  encoding: Encoding,
): KeyCandidate[] {
  const sent = encodeHash(first?.hash ?? '', encoding);
  const around = keys.filter((key) => key.includes(sent)).map((key) => key.split(sent));
  return [
    ...around.map(([prefix = '', suffix = '']) => ({
      source: `(hash) => ${JSON.stringify(prefix)} + hash + ${JSON.stringify(suffix)}`,
      keyOf: (hash: string) => prefix + hash + suffix,
    })),
    ...[0, 1].map((from) => ({
      source: `(hash, position) => String(position + ${from})`,
      keyOf: (_hash: string, position: number) => String(position + from),
    })),
  ];
}
