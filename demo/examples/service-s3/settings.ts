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

/** Keys are optional, and temporary ones need their end: a presigned URL must not be valid for longer. */
function readKeys(prefix: 'S3' | 'S3_CHUNKS'): Keys | undefined {
  /** A setting that is needed if another one is there, and is empty otherwise. */
  const readWith = (other: string, value: string, name: string, pattern: RegExp, rule: string) =>
    value ? read(name, pattern, rule) : read(name, EMPTY, `empty without ${other}`);
  const idName = `${prefix}_ACCESS_KEY_ID`;
  const accessKeyId = read(idName, /^\S*$/, 'an access key of the store, or empty');
  const secretName = `${prefix}_SECRET_ACCESS_KEY`;
  const secretAccessKey = readWith(idName, accessKeyId, secretName, /./, `the secret key of ${idName}`);
  const tokenName = `${prefix}_SESSION_TOKEN`;
  const tokenRule = 'the session token of temporary keys, or empty';
  const sessionToken = readWith(idName, accessKeyId, tokenName, /^\S*$/, tokenRule);
  const endRule = 'the time at which the keys end, such as 2026-11-22T16:00:00Z';
  const end = readWith(tokenName, sessionToken, `${prefix}_CREDENTIAL_EXPIRATION`, TIME, endRule);
  if (!accessKeyId) return undefined;
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken, expiresAt: new Date(end) }) };
}

export const settings = {
  store: {
    endpoint: read('S3_ENDPOINT', ORIGIN, 'a URL without a path, such as http://127.0.0.1:8333'),
    region: read('S3_REGION', /^[\w-]+$/, 'the region of the store, such as us-east-1', 'us-east-1'),
    bucket: read('S3_BUCKET', /^[a-z0-9.-]{3,63}$/, 'the name of the bucket'),
    /** Not needed if `credentials` in hooks.ts is replaced, but for bucket.ts. */
    keys: readKeys('S3'),
    /** May only write below `chunks/`, so that no store can be made to copy what a URL names. */
    chunkKeys: readKeys('S3_CHUNKS'),
    enforces: read('S3_ENFORCES', CHECKSUM, 'content-sha256 or checksum-sha256, see docs/s3.md'),
  },
  pageOrigin: read('PAGE_ORIGIN', ORIGIN, 'the origin of your page, such as https://www.example.com'),
  receiptKey: read('RECEIPT_KEY', SECRET, 'at least 32 random characters, the same for all processes'),
  port: Number(read('PORT', /^\d{1,5}$/, 'a port number', '8080')),
  /** Without it, sessions are in memory: for one process, and lost with it. */
  databaseUrl: read('DATABASE_URL', /^($|postgres(ql)?:\/\/)/, 'the URL of a PostgreSQL database, or empty'),
};
if (mistakes.length > 0) throw new Error(`Wrong settings:\n${mistakes.join('\n')}`);
