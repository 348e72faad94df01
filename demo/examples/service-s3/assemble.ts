// Joins stored chunks to a file, and deletes what attempts to do so have left.
import { settings } from './settings.ts';
import {
  BYTES,
  call,
  forEach,
  PATIENT,
  type Patience,
  remove,
  repeated,
  StoreError,
  send,
  sizeOf,
} from './store.ts';

export interface Source {
  key: string;
  sizeBytes: number;
}

/** A store may forget an upload, for example by its lifecycle rules. */
const MAX_UPLOADS = 3;
/** The parts of an upload can't be completed, so that the next attempt needs a new one. */
const SPOILED = /^(InvalidPart|InvalidPartOrder|EntityTooSmall)$/;
const isGone = (error: unknown) => error instanceof StoreError && error.code === 'NoSuchUpload';
const isUseless = (error: unknown) =>
  error instanceof StoreError && (error.isFull || SPOILED.test(error.code));

const from = ({ key }: Source) => ({ 'x-amz-copy-source': `/${settings.store.bucket}/${key}` });
const queryOf = (id: string) => `uploadId=${encodeURIComponent(id)}`;

/** Resolves with the keys and ids of unfinished uploads. */
async function uploadsBelow(prefix: string): Promise<[key: string, id: string][]> {
  const text = await call('GET', `?uploads&prefix=${encodeURIComponent(prefix)}`);
  const found = text.matchAll(/<Key>([^<]+)<\/Key>\s*<UploadId>([^<]+)<\/UploadId>/g);
  return [...found].map(([, key = '', id = '']) => [key, id]);
}

/** Resolves with the parts that an upload has, as they are listed in its completion. */
async function partsOf(target: string, id: string, sources: readonly Source[]): Promise<Map<number, string>> {
  const parts = new Map<number, string>();
  for (let marker: string | undefined = ''; marker !== undefined; ) {
    const text: string = await call('GET', `${target}?${queryOf(id)}${marker}`);
    for (const [part] of text.matchAll(/<Part>.*?<\/Part>/gs)) {
      const [number, size] = ['PartNumber', 'Size'].map((name) =>
        Number(part.split(`<${name}>`)[1]?.split('<')[0]),
      );
      if (number && size === sources[number - 1]?.sizeBytes)
        parts.set(number, /<ETag>.+?<\/ETag>/s.exec(part)?.[0] ?? '');
    }
    const next = /<NextPartNumberMarker>(\d+)</.exec(text)?.[1];
    marker = text.includes('<IsTruncated>true') && next ? `&part-number-marker=${next}` : undefined;
  }
  return parts;
}

const begin = async (target: string): Promise<string> =>
  /<UploadId>(.+)<\/UploadId>/.exec(await call('POST', `${target}?uploads`, { headers: BYTES }))?.[1] ?? '';

/**
 * Joins objects to a new one, which has none of their metadata. All but the last need 5 MiB. The target must have the same sources
 * each time, because an attempt that is not the first continues what others have copied. Stops when `signal` aborts.
 */
export async function assemble(
  target: string,
  sources: readonly Source[],
  { isFirst, signal }: { isFirst: boolean; signal: AbortSignal },
): Promise<void> {
  const patience: Patience = { ...PATIENT, signal };
  const total = sources.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const isMade = async () => (await sizeOf(target, patience)) === total;
  const isMadeBefore = !isFirst && (await isMade());
  if (isMadeBefore) return;
  const [first] = sources;
  if (sources.length < 2) {
    const copy = first && { ...from(first), 'x-amz-metadata-directive': 'REPLACE' };
    return void (await call('PUT', target, { headers: { ...BYTES, ...copy }, signal }));
  }

  async function fill(id: string, isNew: boolean): Promise<void> {
    const known = isNew ? new Map<number, string>() : await partsOf(target, id, sources);
    const parts = await forEach(sources, async (source, index) => {
      const number = index + 1;
      const path = `${target}?partNumber=${number}&${queryOf(id)}`;
      const copy = () => call('PUT', path, { headers: from(source), signal });
      const tag = known.get(number) ?? /<ETag>.+<\/ETag>/s.exec(await copy())?.[0];
      return `<Part><PartNumber>${number}</PartNumber>${tag}</Part>`;
    });
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    const complete = async () => {
      // The store may have made the file although its response was lost.
      await send('POST', `${target}?${queryOf(id)}`, { body }, patience).catch(async (error) => {
        if (!(await isMade())) throw error;
      });
    };
    await repeated(complete, patience);
  }

  const known = isFirst ? [] : await uploadsBelow(target);
  let id = known.find(([key]) => key === target)?.[1];
  for (let count = 1; ; count += 1) {
    const isNew = id === undefined;
    id ??= await begin(target);
    try {
      return await fill(id, isNew);
    } catch (error) {
      if (isUseless(error)) await call('DELETE', `${target}?${queryOf(id)}`).catch(() => undefined);
      if (!isGone(error) || count === MAX_UPLOADS) throw error;
      // Another attempt has completed it, or the store has forgotten it.
      if (await isMade()) return;
      id = undefined;
    }
  }
}

/** Deletes what attempts have left: unfinished uploads, and all objects whose keys begin with `prefix` but `kept`. */
export async function removeOthers(prefix: string, kept: string) {
  const list = call('GET', `?list-type=2&prefix=${encodeURIComponent(prefix)}`);
  const [uploads, objects] = await Promise.all([uploadsBelow(prefix), list]);
  for (const [key, id] of uploads) await call('DELETE', `${key}?${queryOf(id)}`);
  for (const [, key = ''] of objects.matchAll(/<Key>([^<]+)<\/Key>/g)) if (key !== kept) await remove(key);
}
