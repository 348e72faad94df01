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

export const settings = {
  store: {
    endpoint: read('S3_ENDPOINT', ORIGIN, 'a URL without a path, such as http://127.0.0.1:8333'),
    region: read('S3_REGION', /^[\w-]+$/, 'the region of the store, such as us-east-1', 'us-east-1'),
    bucket: read('S3_BUCKET', /^[a-z0-9.-]{3,63}$/, 'the name of the bucket'),
    accessKeyId: read('S3_ACCESS_KEY_ID', /./, 'the access key of the store'),
    secretAccessKey: read('S3_SECRET_ACCESS_KEY', /./, 'the secret key of the store'),
    enforces: read('S3_ENFORCES', CHECKSUM, 'content-sha256 or checksum-sha256, see docs/s3.md'),
  },
  pageOrigin: read('PAGE_ORIGIN', ORIGIN, 'the origin of your page, such as https://www.example.com'),
  receiptKey: read('RECEIPT_KEY', SECRET, 'at least 32 random characters, the same for all processes'),
  port: Number(read('PORT', /^\d{1,5}$/, 'a port number', '8080')),
  /** Without it, sessions are in memory: for one process, and lost with it. */
  databaseUrl: read('DATABASE_URL', /^($|postgres(ql)?:\/\/)/, 'the URL of a PostgreSQL database, or empty'),
};
if (mistakes.length > 0) throw new Error(`Wrong settings:\n${mistakes.join('\n')}`);
