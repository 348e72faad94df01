// Everything that can be set when the service starts, with its production defaults. It reads no files and no
// environment; the command line (main.ts) and the tests both fill it.

/** The hash that names chunks. One per service, since the interface has no field for it. */
export type HashName = 'sha-256' | 'blake3';

/** A limit of so many requests in a window of time. */
export interface RateLimit {
  requests: number;
  windowMs: number;
}

/** What `startService` takes. Only `dataDir` and `appOrigins` must be given. */
export interface ServiceOptions {
  /** Where state, keys and bytes lie. Started again on the same folder, everything is still there. */
  dataDir: string;
  /** Origins of pages that may use the service, exact (`http://127.0.0.1:5173`). */
  appOrigins: string[];
  /** Ports; 0 takes a free one. */
  servicePort?: number;
  storagePort?: number;
  idpPort?: number;
  /** The host in the addresses that are handed out: `127.0.0.1` (default) or `localhost`. Loopback is all that is listened on. */
  host?: string;
  /**
   * Origins under which a reverse proxy publishes the three ports; they replace `http://<host>:<port>` in every address. With
   * `https`, cookies are `Secure` and have the `__Host-` prefix.
   */
  publicUrls?: { service?: string; storage?: string; idp?: string };
  /** Addresses or networks (`10.0.0.0/8`) of reverse proxies whose `X-Forwarded-For` tells the client's address. Default: none. */
  trustedProxies?: string[];
  /** Exact callback addresses. Default: `/secure-uploader-callback.html` of every app origin. */
  redirectUris?: string[];
  /** The text of `src/login.ts` as one bundle; with it the sign-in page has the widget's form, else plain forms. */
  loginScript?: string;
  /** Switches on the fault layer, the request log and `/_test/*`. Never in production. */
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
  /** Whether the presigned URL and its entry tell when they end (`Expires`, `expires_at`). */
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
  /** How many codes and push requests one user is sent, over all methods and sign-ins. Default: 5 in 10 minutes. */
  messageLimit?: RateLimit;
  /** `same-site` (`Lax`) or `cross-site` (`None; Secure; Partitioned`). */
  cookie?: 'same-site' | 'cross-site';
  /** Sets the partitioned session cookie in the token answer too. */
  replant?: boolean;
  /** Whether chunks and state are flushed to the disk before they are answered. Only benchmarks switch it off. */
  fsync?: boolean;
  accessControlMaxAgeS?: number;
}

/** The options with every blank filled. */
export type Settings = Required<Omit<ServiceOptions, 'redirectUris' | 'loginScript' | 'publicUrls'>> & {
  publicUrls: { service?: string; storage?: string; idp?: string };
  loginScript: string | undefined;
  redirectUris: string[] | undefined;
};

const MINUTE = 60_000;

/** Fills the blanks. Throws on a setting that cannot be. */
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

// Compared character by character later, so it must be written the way browsers write it.
function readAddress(value: string): string {
  if (new URL(value).href !== value) throw new Error(`not a full address: ${value}`);
  return value;
}

/** Reads an origin, or throws. `*` and `null` are never origins here. */
export function readOrigin(value: string): string {
  const url = new URL(value);
  if (url.origin === 'null' || (url.origin !== value && `${url.origin}/` !== value)) {
    throw new Error(`not an origin: ${value}`);
  }
  return url.origin;
}
