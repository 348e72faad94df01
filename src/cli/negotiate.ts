// Finds which variant of the HTTP interface the service uses: where the value of the session header is, how hashes are encoded,
// whether sizes are needed, and how the entries of chunks are named.

import type { Profile } from '../core/read-profile.ts';
import { fillProfile } from '../service/profile.ts';
import { isFields } from '../service/wire.ts';
import type { Context } from './context.ts';
import { chunksOf, Dialect, type Piece } from './dialect.ts';
import type { Exchange } from './exchange.ts';
import { isOk } from './finding.ts';

/** A field of a profile that reads responses, and its source. */
interface Reader {
  readonly profile: Profile;
  /** `undefined` for the default. */
  readonly source?: string;
}

const DEFAULT_READER: Reader = { profile: {} };

/** Returns the places in a body that may have the value of the session header: all strings, with their paths. */
function placesIn(body: unknown, path: readonly string[] = []): Reader[] {
  if (!isFields(body) || path.length > 3) return [];
  return Object.keys(body).flatMap((key) => {
    const keys = [...path, key];
    if (typeof body[key] !== 'string') return placesIn(body[key], keys);
    const sessionHeader: Profile['sessionHeader'] = ({ body }) =>
      String(keys.reduce((value: unknown, name) => (isFields(value) ? value[name] : undefined), body) ?? '');
    const names = keys.map((name) =>
      /^[a-z_$][\w$]*$/i.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`,
    );
    return [{ source: `({ body }) => body${names.join('')}`, profile: { sessionHeader } }];
  });
}

/** Tries ways of presigning until one succeeds. Records the settings. */
export async function negotiate(context: Context): Promise<Dialect | undefined> {
  const { options, settings } = context;
  const openResponse = await context.openOnce();
  if (!isOk(openResponse)) return undefined;
  const dialectOf = (profile: Profile): Dialect => new Dialect(fillProfile(profile), options.origin);
  const sessionOf = ({ profile }: Reader): string | undefined => dialectOf(profile).sessionOf(openResponse);
  const otherPlaces = placesIn(openResponse.json).filter(
    (place) => sessionOf(place) !== sessionOf(DEFAULT_READER),
  );
  const places = [DEFAULT_READER, ...otherPlaces].filter((place) => sessionOf(place) !== undefined);
  const pieces = [context.piece(600), context.piece(400)];
  for (const { source, profile } of places) {
    for (const sendSizes of [false, true]) {
      for (const hashEncoding of ['hex', 'base64', 'base64url'] as const) {
        const dialect = dialectOf({ ...profile, sendSizes, hashEncoding });
        const body = dialect.presignBody(pieces);
        const response = await context.call('presign', { session: dialect.sessionOf(openResponse), body });
        context.firstPresign ??= response;
        if (!isOk(response) || !chunksOf(response)) continue;
        if (source) settings.setProfile('sessionHeader', source);
        if (hashEncoding !== 'hex') settings.setProfile('hashEncoding', `'${hashEncoding}'`);
        if (sendSizes) settings.setProfile('sendSizes', 'true');
        const key = findKey(dialect, response, pieces);
        if (key.source) settings.setProfile('chunkKey', key.source);
        return dialectOf({ ...dialect.profile, ...key.profile });
      }
    }
  }
  return undefined;
}

/** Finds out which key of `chunks` belongs to which hash (U2). Returns the default if none does. */
function findKey(dialect: Dialect, response: Exchange, pieces: readonly Piece[]): Reader {
  const hasAllEntries = (key: Reader): boolean =>
    new Dialect({ ...dialect.profile, ...key.profile }, undefined).entriesOf(response, pieces).every(Boolean);
  const keys = Object.keys(chunksOf(response) ?? {});
  return (
    [DEFAULT_READER, ...keyCandidates(keys, dialect.encode(pieces[0]?.hash ?? ''))].find(hasAllEntries) ??
    DEFAULT_READER
  );
}

/** Returns ways to name the entry of a hash. `sent` is the first hash, as it was sent. */
function keyCandidates(keys: readonly string[], sentHash: string): Reader[] {
  const affixes = keys.filter((key) => key.includes(sentHash)).map((key) => key.split(sentHash));
  return [
    ...affixes.map(([prefix = '', suffix = '']) => ({
      source: `(hash) => ${JSON.stringify(prefix)} + hash + ${JSON.stringify(suffix)}`,
      profile: { chunkKey: (hash: string) => prefix + hash + suffix },
    })),
    ...[0, 1].map((firstPosition) => ({
      source: `(hash, position) => String(position + ${firstPosition})`,
      profile: { chunkKey: (_hash: string, position: number) => String(position + firstPosition) },
    })),
  ];
}
