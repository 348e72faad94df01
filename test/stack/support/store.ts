// Starts Ceph RGW on free ports with a new, empty store.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { installedExample } from '../../support/built.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { freePort } from './ports.ts';

const exec = promisify(execFile);
const script = fileURLToPath(new URL('../../../scripts/ceph-rgw.sh', import.meta.url));

interface Aws {
  readonly AwsClient: new (options: object) => { fetch(url: string, init: RequestInit): Promise<Response> };
}

export interface RunningStore {
  /** The settings `S3_ENDPOINT`, `S3_REGION`, `S3_ACCESS_KEY_ID` and `S3_SECRET_ACCESS_KEY`. */
  readonly settings: Readonly<Record<string, string>>;
  /** Stops the gateway; the objects stay. */
  interrupt(): Promise<void>;
  /** The same, in the middle of its requests. */
  kill(): Promise<void>;
  resume(): Promise<void>;
  /** Stops the process of the gateway, with open connections, and continues it. */
  pause(): Promise<void>;
  unpause(): Promise<void>;
  /** Creates a user. Resolves with its keys. */
  addUser(name: string): Promise<{ accessKeyId: string; secretAccessKey: string }>;
  /** Limits the bytes in the bucket `uploads` to those that it has now and `freeBytes` more; `undefined` ends the limit. */
  setQuota(freeBytes: number | undefined): Promise<void>;
  /** Resolves with the response to a request of the owner of the bucket `uploads`. */
  ask(path: string, method?: string, body?: string): Promise<Response>;
  /** Resolves with the keys and sizes of all objects below `prefix`. */
  list(prefix: string): Promise<Map<string, number>>;
  /** Resolves with the key of a file of a user. Rejects if there are several attempts. */
  keyOfFile(user: string, fileId: unknown): Promise<string>;
  /** Resolves with the SHA-256 of an object. */
  hashOf(key: string): Promise<string>;
  stop(): Promise<void>;
}

/** Reads objects with the package of the example that signs requests. */
async function objectsOf(
  settings: Record<string, string>,
): Promise<Pick<RunningStore, 'ask' | 'list' | 'keyOfFile' | 'hashOf'>> {
  const { resolve } = createRequire(join(installedExample(), 'package.json'));
  const { AwsClient } = (await import(pathToFileURL(resolve('aws4fetch')).href)) as Aws;
  const { S3_ACCESS_KEY_ID = '', S3_SECRET_ACCESS_KEY = '', S3_REGION = '', S3_ENDPOINT } = settings;
  const keys = { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY, region: S3_REGION };
  const aws = new AwsClient({ ...keys, service: 's3' });
  const ask = (path: string, method = 'GET', body?: string): Promise<Response> =>
    aws.fetch(`${S3_ENDPOINT}/uploads${path}`, { method, ...(body !== undefined && { body }) });
  const get = async (path: string): Promise<Response> => {
    const response = await ask(path);
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response;
  };
  async function list(prefix: string): Promise<Map<string, number>> {
    const text = await (await get(`?list-type=2&max-keys=1000&prefix=${encodeURIComponent(prefix)}`)).text();
    if (text.includes('<IsTruncated>true')) throw new Error('more than 1,000 objects');
    const found = text.matchAll(/<Key>([^<]+)<\/Key>.*?<Size>(\d+)<\/Size>/gs);
    return new Map([...found].map(([, key = '', size]) => [key, Number(size)]));
  }
  return {
    ask,
    list,
    async keyOfFile(user, fileId) {
      const [key, ...others] = (await list(`files/u-${user}/${fileId}-`)).keys();
      if (!key || others.length > 0) throw new Error(`${key ? others.length + 1 : 0} objects of ${fileId}`);
      return key;
    },
    async hashOf(key) {
      const hash = createHash('sha256');
      for await (const part of (await get(`/${key}`)).body ?? []) hash.update(part);
      return hash.digest('hex');
    },
  };
}

/** Files are joined from parts of at least `minPartBytes`, but for the last part. */
export async function startStore(minPartBytes = 5 * 2 ** 20): Promise<RunningStore> {
  const folder = temporaryFolder();
  // The OSD uses the 16 ports after that of the monitor, below the range of free ports.
  const monPort = 12_000 + Math.floor(Math.random() * 1000) * 17;
  const ports = [String(await freePort()), String(monPort)];
  const env = { ...process.env, RGW_MIN_PART_BYTES: String(minPartBytes) };
  const start = (): Promise<{ stdout: string }> => exec(script, ['start', folder, ...ports], { env });
  const { stdout } = await start();
  const lines = stdout.trim().split('\n');
  const settings: Record<string, string> = Object.fromEntries(
    lines.map((line) => line.split(/=(.*)/).slice(0, 2)),
  );
  const objects = await objectsOf(settings);
  return {
    ...objects,
    settings,
    interrupt: async () => void (await exec(script, ['outage', folder])),
    kill: async () => void (await exec(script, ['kill', folder])),
    resume: async () => void (await start()),
    pause: async () => void (await exec(script, ['pause', folder])),
    unpause: async () => void (await exec(script, ['continue', folder])),
    async addUser(name) {
      await exec(script, ['user', folder, name]);
      return { accessKeyId: name, secretAccessKey: `${name}-secret` };
    },
    async setQuota(freeBytes) {
      const sizes = freeBytes === undefined ? [] : [...(await objects.list('')).values(), freeBytes];
      const quota = freeBytes === undefined ? 'none' : `${sizes.reduce((sum, size) => sum + size)}`;
      await exec(script, ['quota', folder, 'uploads', quota]);
    },
    stop: async () => void (await exec(script, ['stop', folder])),
  };
}
