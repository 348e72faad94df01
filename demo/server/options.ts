// Options of the service, and their defaults for production. main.ts and tests set the options.

/** Hash function for chunks. Requests do not name the hash function, so a service uses only one. */
export type HashName = 'sha-256' | 'blake3';

export interface RateLimit {
  requests: number;
  windowMs: number;
}

/** Options of `startService`. */
export interface ServiceOptions {
  /** Folder for state, keys and chunks, which persist across restarts. */
  dataDir: string;
  /** Exact origins of pages that may use the service, such as `http://127.0.0.1:5173`. */
  appOrigins: string[];
  /** Port of the service. 0 chooses a free port, and is the default for both ports. */
  servicePort?: number;
  storagePort?: number;
  /** Host name in URLs: `127.0.0.1` (default) or `localhost`. In both cases, the service listens on loopback only. */
  host?: string;
  /**
   * Public origins of the two servers behind a reverse proxy. These origins replace `http://<host>:<port>` in all URLs. With
   * `https`, cookies are `Secure` and have the `__Host-` prefix.
   */
  publicUrls?: { service?: string; storage?: string };
  /** Addresses or networks (`10.0.0.0/8`) of reverse proxies whose `X-Forwarded-For` is trusted. Default: none. */
  trustedProxies?: string[];
  /** Exact URLs of callback pages. Defaults to `/secure-uploader-callback.html` on each app origin. */
  redirectUris?: string[];
  /** Bundle of `src/login.ts`. Without a bundle, the sign-in page uses plain forms. */
  loginScript?: string;
  /** Enables fault injection, the request log and `/_test/*`. Not for production. */
  test?: boolean;
  /** Enables the page `/_demo` and the identity provider `broken`. Defaults to the value of `test`. */
  demo?: boolean;
  hash?: HashName;
  tokenLifetimeMs?: number;
  codeLifetimeMs?: number;
  /** Time that a browser stays signed in. */
  loginLifetimeMs?: number;
  urlLifetimeMs?: number;
  /** Lifetime of an upload session, starting when it is opened. Requests do not extend it. */
  uploadSessionLifetimeMs?: number;
  /** True if presigned URLs have the parameter `Expires`, and their entries the field `expires_at`. */
  urlTellsExpiry?: boolean;
  maxChunkBytes?: number;
  maxFileBytes?: number;
  /** Limit for the bytes of a user's files and open uploads together. Defaults to 10 TiB. */
  maxUserBytes?: number;
  /** Limit for a user's files and open uploads together. Defaults to 100,000. */
  maxUserFiles?: number;
  /** Limit for the upload sessions of a user that are open or were canceled in the last hour. Defaults to 10,000. */
  maxOpenSessions?: number;
  /** Limit for the hashes of a presign request, and for those of all files of a batch. */
  maxHashesPerBatch?: number;
  /** Enables `POST /files/uploadsession/batch`: many small files in one request. */
  batches?: boolean;
  /** Rate limit of `POST /auth/token` per IP address and app origin. Other sign-in calls have a multiple of this limit. */
  rateLimit?: RateLimit;
  /** Limit for codes and push requests per user, over all methods and sign-ins. Defaults to 5 in 10 minutes. */
  messageLimit?: RateLimit;
  /** Attributes of the session cookie: `same-site` (`Lax`) or `cross-site` (`None; Secure; Partitioned`). */
  cookie?: 'same-site' | 'cross-site';
  /** Also sets the partitioned session cookie in the token response. */
  replant?: boolean;
  /** True (default) if chunks and state are flushed to disk before the response. False is for benchmarks only. */
  fsync?: boolean;
  accessControlMaxAgeS?: number;
}

export type Settings = Required<Omit<ServiceOptions, 'redirectUris' | 'loginScript' | 'publicUrls'>> & {
  publicUrls: { service?: string; storage?: string };
  loginScript: string | undefined;
  redirectUris: string[] | undefined;
};

const MINUTE = 60_000;

/** Returns the settings: `options` with the defaults. Throws if an option is not valid. */
export function fillOptions(options: ServiceOptions): Settings {
  const test = options.test ?? false;
  const hash = options.hash ?? 'sha-256';
  if (hash !== 'sha-256' && hash !== 'blake3') throw new Error(`unknown hash ${String(hash)}`);
  return {
    servicePort: 0,
    storagePort: 0,
    host: '127.0.0.1',
    tokenLifetimeMs: 15 * MINUTE,
    codeLifetimeMs: MINUTE,
    loginLifetimeMs: 8 * 60 * MINUTE,
    urlLifetimeMs: 5 * MINUTE,
    uploadSessionLifetimeMs: 7 * 24 * 60 * MINUTE,
    urlTellsExpiry: true,
    maxChunkBytes: 512 * 1024 * 1024,
    maxFileBytes: 5 * 1024 ** 4,
    maxUserBytes: 10 * 1024 ** 4,
    maxUserFiles: 100_000,
    maxOpenSessions: 10_000,
    maxHashesPerBatch: 100,
    batches: false,
    trustedProxies: [],
    rateLimit: test ? { requests: 10_000, windowMs: MINUTE } : { requests: 10, windowMs: MINUTE },
    messageLimit: test ? { requests: 10_000, windowMs: MINUTE } : { requests: 5, windowMs: 10 * MINUTE },
    demo: test,
    cookie: 'same-site',
    replant: false,
    fsync: true,
    accessControlMaxAgeS: 7200,
    ...options,
    appOrigins: options.appOrigins.map(readOrigin),
    publicUrls: Object.fromEntries(
      Object.entries(options.publicUrls ?? {}).map(([port, url]) => [port, readOrigin(url)]),
    ),
    redirectUris: options.redirectUris?.map(readAddress),
    loginScript: options.loginScript,
    hash,
    test,
  };
}

// Redirect URLs are compared as strings, so `value` must be spelled exactly as browsers send the URL.
function readAddress(value: string): string {
  if (new URL(value).href !== value) throw new Error(`not a full address: ${value}`);
  return value;
}

/** Returns the origin without a trailing slash. Throws if `value` is not an origin, such as `*` or `null`. */
export function readOrigin(value: string): string {
  const url = new URL(value);
  if (url.origin === 'null' || (url.origin !== value && `${url.origin}/` !== value)) {
    throw new Error(`not an origin: ${value}`);
  }
  return url.origin;
}
