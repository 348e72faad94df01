// The options of the service and their production defaults. main.ts and tests set them.

/** The hash that names chunks. One per service, since the interface has no field for it. */
export type HashName = 'sha-256' | 'blake3';

export interface RateLimit {
  requests: number;
  windowMs: number;
}

/** Options of `startService`. */
export interface ServiceOptions {
  /** Folder for state, keys and bytes. They persist over restarts. */
  dataDir: string;
  /** Origins of pages that may use the service, exact (`http://127.0.0.1:5173`). */
  appOrigins: string[];
  /** Ports; 0 takes a free one. */
  servicePort?: number;
  storagePort?: number;
  idpPort?: number;
  /** Host in addresses: `127.0.0.1` (default) or `localhost`. The service listens on loopback only. */
  host?: string;
  /**
   * Origins under which a reverse proxy publishes the three ports; they replace `http://<host>:<port>` in every address. With
   * `https`, cookies are `Secure` and have the `__Host-` prefix.
   */
  publicUrls?: { service?: string; storage?: string; idp?: string };
  /** Addresses or networks (`10.0.0.0/8`) of reverse proxies whose `X-Forwarded-For` is trusted. Default: none. */
  trustedProxies?: string[];
  /** Exact callback addresses. Default: `/secure-uploader-callback.html` of every app origin. */
  redirectUris?: string[];
  /** `src/login.ts` as one bundle. Without it, the sign-in page has plain forms. */
  loginScript?: string;
  /** Faults, request log and `/_test/*`. Not for production. */
  test?: boolean;
  /** The page `/_demo` with the demo users' codes and phones, and the provider `broken`. Default: on in test mode only. */
  demo?: boolean;
  hash?: HashName;
  tokenLifetimeMs?: number;
  codeLifetimeMs?: number;
  /** How long a browser stays signed in. */
  loginLifetimeMs?: number;
  urlLifetimeMs?: number;
  /** How long an upload session lives after its last presign. */
  uploadSessionLifetimeMs?: number;
  /** Whether presigned URLs and their entries say when they expire (`Expires`, `expires_at`). */
  urlTellsExpiry?: boolean;
  maxChunkBytes?: number;
  maxFileBytes?: number;
  /** Bytes of one user's files and open uploads together. Default: 10 TiB. */
  maxUserBytes?: number;
  /** Upload sessions that one user may have open. Default: 10,000. */
  maxOpenSessions?: number;
  maxHashesPerBatch?: number;
  /** Limit of `POST /auth/token`, per client address and app origin. Other sign-in calls have a multiple of it. */
  rateLimit?: RateLimit;
  /** Codes and push requests for one user, over all methods and sign-ins. Default: 5 in 10 minutes. */
  messageLimit?: RateLimit;
  /** `same-site` (`Lax`) or `cross-site` (`None; Secure; Partitioned`). */
  cookie?: 'same-site' | 'cross-site';
  /** Also sets the partitioned session cookie in the token response. */
  replant?: boolean;
  /** Flushes chunks and state to the disk before the response. Off in benchmarks only. */
  fsync?: boolean;
  accessControlMaxAgeS?: number;
}

export type Settings = Required<Omit<ServiceOptions, 'redirectUris' | 'loginScript' | 'publicUrls'>> & {
  publicUrls: { service?: string; storage?: string; idp?: string };
  loginScript: string | undefined;
  redirectUris: string[] | undefined;
};

const MINUTE = 60_000;

/** Adds the defaults. Throws on a setting that is not valid. */
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

// Must have the form that browsers send, since it is compared as a string.
function readAddress(value: string): string {
  if (new URL(value).href !== value) throw new Error(`not a full address: ${value}`);
  return value;
}

/** Throws unless it is an origin. `*` and `null` are not. */
export function readOrigin(value: string): string {
  const url = new URL(value);
  if (url.origin === 'null' || (url.origin !== value && `${url.origin}/` !== value)) {
    throw new Error(`not an origin: ${value}`);
  }
  return url.origin;
}
