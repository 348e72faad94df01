// The options of the service and their production defaults. main.ts and tests set them.

/** The hash function for chunks. The interface has no field for it, so each service uses one only. */
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
  /** 0, the default for all ports, chooses a free port. */
  servicePort?: number;
  storagePort?: number;
  idpPort?: number;
  /** Host name in URLs: `127.0.0.1` (default) or `localhost`. The service only listens on loopback. */
  host?: string;
  /**
   * Public origins of the three servers behind a reverse proxy. They replace `http://<host>:<port>` in all URLs. With `https`,
   * cookies are `Secure` and have the `__Host-` prefix.
   */
  publicUrls?: { service?: string; storage?: string; idp?: string };
  /** Addresses or networks (`10.0.0.0/8`) of reverse proxies whose `X-Forwarded-For` is trusted. Default: none. */
  trustedProxies?: string[];
  /** Exact URLs of callback pages. Defaults to `/secure-uploader-callback.html` on each app origin. */
  redirectUris?: string[];
  /** `src/login.ts`, bundled. Without it, the sign-in page uses plain forms. */
  loginScript?: string;
  /** Enables fault injection, the request log and `/_test/*`. Not for production. */
  test?: boolean;
  /** Enables the page `/_demo` and the identity provider `broken`. Defaults to the value of `test`. */
  demo?: boolean;
  hash?: HashName;
  tokenLifetimeMs?: number;
  codeLifetimeMs?: number;
  /** How long a browser stays signed in. */
  loginLifetimeMs?: number;
  urlLifetimeMs?: number;
  /** Lifetime of an upload session after its last `chunks` request. */
  uploadSessionLifetimeMs?: number;
  /** Whether presigned URLs have an `Expires` parameter and their entries an `expires_at` field. */
  urlTellsExpiry?: boolean;
  maxChunkBytes?: number;
  maxFileBytes?: number;
  /** Limit for the bytes of a user's files and open uploads together. Defaults to 10 TiB. */
  maxUserBytes?: number;
  /** Limit for the open upload sessions of a user. Defaults to 10,000. */
  maxOpenSessions?: number;
  maxHashesPerBatch?: number;
  /** Rate limit of `POST /auth/token` per client address and app origin. The limits of other sign-in calls are multiples of it. */
  rateLimit?: RateLimit;
  /** Limit for codes and push requests per user, over all methods and sign-ins. Defaults to 5 in 10 minutes. */
  messageLimit?: RateLimit;
  /** `same-site` (`Lax`) or `cross-site` (`None; Secure; Partitioned`). */
  cookie?: 'same-site' | 'cross-site';
  /** Also sets the partitioned session cookie in the token response. */
  replant?: boolean;
  /** Whether chunks and state are flushed to disk before the response. Turn it off only in benchmarks. */
  fsync?: boolean;
  accessControlMaxAgeS?: number;
}

export type Settings = Required<Omit<ServiceOptions, 'redirectUris' | 'loginScript' | 'publicUrls'>> & {
  publicUrls: { service?: string; storage?: string; idp?: string };
  loginScript: string | undefined;
  redirectUris: string[] | undefined;
};

const MINUTE = 60_000;

/** Adds the defaults. Throws if a setting is not valid. */
export function fillOptions(options: ServiceOptions): Settings {
  const test = options.test ?? false;
  const hash = options.hash ?? 'sha-256';
  if (hash !== 'sha-256' && hash !== 'blake3') throw new Error(`unknown hash ${String(hash)}`);
  return {
    servicePort: 0,
    storagePort: 0,
    idpPort: 0,
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
    maxOpenSessions: 10_000,
    maxHashesPerBatch: 100,
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

// The setting must be in the form that browsers send, because URLs are compared as strings.
function readAddress(value: string): string {
  if (new URL(value).href !== value) throw new Error(`not a full address: ${value}`);
  return value;
}

/** Returns `value` if it is an origin, and throws otherwise. `*` and `null` are not origins. */
export function readOrigin(value: string): string {
  const url = new URL(value);
  if (url.origin === 'null' || (url.origin !== value && `${url.origin}/` !== value)) {
    throw new Error(`not an origin: ${value}`);
  }
  return url.origin;
}
