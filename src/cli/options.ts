// The options of `secure-uploader conform`.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isSafeUrl } from '../service/http.ts';

export const HELP = `Checks a running service, and prints the settings that make <secure-uploader> work with it.

  secure-uploader conform --base-url URL --parent-id ID [options]

  --base-url URL, --parent-id ID    as the attributes. The checks create small files in the folder
  --token-file FILE     file with the token ("-" is the standard input), or set SECURE_UPLOADER_TOKEN
  --second-token-file FILE    token of another user, to check that users are separated
  --origin ORIGIN       origin of the page; without it, CORS is not checked
  --session-path, --chunks-path, --commit-path, --cancel-path, --batch-path PATH    as the \
attributes; "none" if there is none
  --auth-header NAME, --auth-scheme NAME, --upload-origins URL    as the attributes
  --field NAME=VALUE    field of the request that opens a session (profile.sessionFields), repeatable
  --hash NAME           sha-256 (default) or blake3, for which no bytes are sent
  --wait SECONDS        longest wait for the expiry of a URL or a commit (default 20)
  --only TEXT           only checks whose id has this text
  --json                the report as JSON
  --help

Exit status: 0 if all checks passed, 1 if not, 2 if they can't run.`;

export interface Options {
  readonly baseUrl: string;
  readonly parentId: string;
  readonly token: string | undefined;
  readonly origin: string | undefined;
  readonly secondToken: string | undefined;
  readonly sessionPath: string;
  readonly chunksPath: string;
  /** `undefined` if there is no such operation. */
  readonly commitPath: string | undefined;
  readonly cancelPath: string | undefined;
  readonly batchPath: string | undefined;
  /** Operations whose path the caller gave, so that they must exist. */
  readonly requiredOperations: readonly ('open' | 'presign' | 'commit' | 'cancel' | 'batch')[];
  readonly authHeader: string;
  readonly authScheme: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly uploadOrigins: readonly string[];
  readonly hash: 'sha-256' | 'blake3';
  readonly waitMs: number;
  /** Longest time of the run. */
  readonly limitMs: number;
  readonly only: string;
  readonly isJson: boolean;
}

const text = { type: 'string' } as const;
const OPTIONS = {
  'base-url': { type: 'string', default: '' },
  'parent-id': text,
  origin: text,
  'token-file': text,
  'second-token-file': text,
  'session-path': { type: 'string', default: '/files/uploadsession' },
  'chunks-path': { type: 'string', default: '/files/uploadsession/chunks' },
  'commit-path': text,
  'cancel-path': text,
  'batch-path': text,
  'auth-header': { type: 'string', default: 'Authorization' },
  'auth-scheme': { type: 'string', default: 'Bearer' },
  'upload-origins': { type: 'string', default: '' },
  hash: { type: 'string', default: 'sha-256' },
  wait: { type: 'string', default: '20' },
  only: { type: 'string', default: '' },
  field: { type: 'string', multiple: true, default: [] as string[] },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean' },
} as const;
/** Operations that the service may lack. */
const OPTIONAL = ['commit', 'cancel', 'batch'] as const;

/** Returns the options, or `undefined` if the user asked for help. Throws an error with a message for the user. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  if (values.help || args.length === 0) return undefined;
  if (positionals.join() !== 'conform') throw new Error('the only command is "conform"');
  const baseUrl = readUrl('--base-url', values['base-url']);
  const { 'parent-id': parentId, origin } = values;
  if (!parentId) throw new Error('--parent-id is missing');
  return {
    baseUrl: baseUrl.href.replace(/\/+$/, ''),
    parentId,
    origin: origin && readUrl('--origin', origin).origin,
    hash: readHash(values.hash),
    waitMs: readSeconds('--wait', values.wait) * 1000,
    ...readTokens(values, baseUrl),
    sessionPath: values['session-path'],
    chunksPath: values['chunks-path'],
    commitPath: readPath(values['commit-path'], '/files/uploadsession/commit'),
    cancelPath: readPath(values['cancel-path'], '/files/uploadsession'),
    batchPath: readPath(values['batch-path'], '/files/uploadsession/batch'),
    requiredOperations: [
      'open',
      'presign',
      ...OPTIONAL.filter((name) => values[`${name}-path`] !== undefined),
    ],
    authHeader: values['auth-header'],
    authScheme: values['auth-scheme'],
    fields: Object.fromEntries(values.field.map((field) => field.split(/=(.*)/s).slice(0, 2))),
    uploadOrigins: values['upload-origins'].split(/[\s,]+/).filter(Boolean),
    limitMs: 600_000,
    only: values.only,
    isJson: values.json,
  };
}

function readUrl(name: string, url: string): URL {
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw new Error(`${name} must be an absolute URL`);
  return new URL(url);
}

function readHash(hash: string): Options['hash'] {
  if (hash !== 'sha-256' && hash !== 'blake3') throw new Error('--hash must be sha-256 or blake3');
  return hash;
}

function readSeconds(name: string, seconds: string): number {
  if (!(Number(seconds) >= 0)) throw new Error(`${name} must be a number of seconds`);
  return Number(seconds);
}

const readPath = (path: string | undefined, defaultPath: string): string | undefined =>
  path === 'none' ? undefined : (path ?? defaultPath);

/** Reads the tokens of both users. */
function readTokens(
  files: { readonly 'token-file'?: string; readonly 'second-token-file'?: string },
  baseUrl: URL,
): Pick<Options, 'token' | 'secondToken'> {
  const token = readToken(files['token-file'], process.env.SECURE_UPLOADER_TOKEN);
  const secondToken = readToken(files['second-token-file']);
  if (token && !isSafeUrl(baseUrl.href, baseUrl)) throw new Error('--base-url must use https');
  return { token, secondToken };
}

/** Returns the token in a file (`-` is the standard input), or else `fallback`; `undefined` if there is none. */
function readToken(file?: string, fallback?: string): string | undefined {
  const text = file === undefined ? fallback : readFileSync(file === '-' ? 0 : file, 'utf8');
  if (file !== undefined && !/^\s*[^\s{]+\s*$/.test(text ?? ''))
    throw new Error(`${file} must hold only the token`);
  return text?.trim() || undefined;
}
