// The settings of the service, from the environment. If some are wrong, the error has one sentence for each.
const mistakes: string[] = [];

/** Reads a setting. Without `otherwise`, it is required. */
function read(name: string, pattern: RegExp, rule: string, otherwise = ''): string {
  const value = process.env[name] || otherwise;
  if (!pattern.test(value)) mistakes.push(`${name} must be ${rule}.`);
  return value;
}
const ORIGIN = /^https?:\/\/[^\s/]+$/;
const CHECKSUM = /^(content|checksum)-sha256$/;
const SECRET = /^\S{32,}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const EMPTY = /^$/;

/** Keys of the store. */
export interface Keys {
  accessKeyId: string;
  secretAccessKey: string;
  /** Of temporary keys. */
  sessionToken?: string;
  /** When temporary keys end. */
  expiresAt?: Date;
}

/** Temporary keys need their end, because a presigned URL must not be valid for longer. */
function readKeys(): Keys {
  const accessKeyId = read('S3_ACCESS_KEY_ID', /./, 'the access key of the store');
  const secretAccessKey = read('S3_SECRET_ACCESS_KEY', /./, 'the secret key of the store');
  const sessionToken = read('S3_SESSION_TOKEN', /^\S*$/, 'the session token of temporary keys, or empty');
  const [pattern, rule] = sessionToken
    ? [TIME, 'the time at which the keys end, such as 2026-11-22T16:00:00Z']
    : [EMPTY, 'empty without S3_SESSION_TOKEN'];
  const end = read('S3_CREDENTIAL_EXPIRATION', pattern, rule);
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken, expiresAt: new Date(end) }) };
}

/** Those that sign URLs for browsers. */
function readChunkKeys(): Keys | undefined {
  const accessKeyId = read('S3_CHUNKS_ACCESS_KEY_ID', /^/, '');
  const [pattern, rule] = accessKeyId
    ? [/./, 'the secret key of S3_CHUNKS_ACCESS_KEY_ID']
    : [EMPTY, 'empty without S3_CHUNKS_ACCESS_KEY_ID'];
  const secretAccessKey = read('S3_CHUNKS_SECRET_ACCESS_KEY', pattern, rule);
  return accessKeyId ? { accessKeyId, secretAccessKey } : undefined;
}

export const settings = {
  store: {
    endpoint: read('S3_ENDPOINT', ORIGIN, 'a URL without a path, such as http://127.0.0.1:8333'),
    region: read('S3_REGION', /^[\w-]+$/, 'the region of the store, such as us-east-1', 'us-east-1'),
    bucket: read('S3_BUCKET', /^[a-z0-9.-]{3,63}$/, 'the name of the bucket'),
    keys: readKeys(),
    /** May only write below `chunks/`, so that no store can be made to copy what a URL names. */
    chunkKeys: readChunkKeys(),
    enforces: read('S3_ENFORCES', CHECKSUM, 'content-sha256 or checksum-sha256, see docs/s3.md'),
  },
  pageOrigin: read('PAGE_ORIGIN', ORIGIN, 'the origin of your page, such as https://www.example.com'),
  receiptKey: read('RECEIPT_KEY', SECRET, 'at least 32 random characters, the same for all processes'),
  port: Number(read('PORT', /^\d{1,5}$/, 'a port number', '8080')),
  /** Without it, sessions are in memory: for one process, and lost with it. */
  databaseUrl: read('DATABASE_URL', /^($|postgres(ql)?:\/\/)/, 'the URL of a PostgreSQL database, or empty'),
};
if (mistakes.length > 0) throw new Error(`Wrong settings:\n${mistakes.join('\n')}`);
