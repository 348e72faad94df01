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
  --session-path, --chunks-path, --commit-path, --cancel-path, --batch-path PATH    as the attributes; "none" if there is none
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
  readonly given: readonly ('open' | 'presign' | 'commit' | 'cancel' | 'batch')[];
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
  'base-url': text,
  'parent-id': text,
  origin: text,
  'token-file': text,
  'second-token-file': text,
  'session-path': text,
  'chunks-path': text,
  'commit-path': text,
  'cancel-path': text,
  'batch-path': text,
  'auth-header': text,
  'auth-scheme': text,
  'upload-origins': text,
  hash: text,
  wait: text,
  only: text,
  field: { type: 'string', multiple: true },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

const isWebUrl = (url: string): boolean => /^https?:/.test(url) && URL.canParse(url);

/** Returns the options, or `undefined` if the user asked for help. Throws an error with a message for the user. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  if (values.help || args.length === 0) return undefined;
  if (positionals.join() !== 'conform') throw new Error('the only command is "conform"');
  const { 'base-url': baseUrl = '', 'parent-id': parentId, hash = 'sha-256', origin } = values;
  const { wait = '20' } = values;
  if (!isWebUrl(baseUrl)) throw new Error('--base-url must be an absolute URL');
  if (!parentId) throw new Error('--parent-id is missing');
  if (origin && !isWebUrl(origin)) throw new Error('--origin must be an absolute URL');
  if (hash !== 'sha-256' && hash !== 'blake3') throw new Error('--hash must be sha-256 or blake3');
  if (!(Number(wait) >= 0)) throw new Error('--wait must be a number of seconds');
  const token = readToken(values['token-file'], process.env.SECURE_UPLOADER_TOKEN);
  const secondToken = readToken(values['second-token-file']);
  if (token && !isSafeUrl(baseUrl, new URL(baseUrl))) throw new Error('--base-url must use https');
  const pathOf = (path: string | undefined, usual: string): string | undefined =>
    path === 'none' ? undefined : (path ?? usual);
  return {
    baseUrl: new URL(baseUrl).href.replace(/\/+$/, ''),
    parentId,
    token,
    origin: origin && new URL(origin).origin,
    secondToken,
    sessionPath: values['session-path'] ?? '/files/uploadsession',
    chunksPath: values['chunks-path'] ?? '/files/uploadsession/chunks',
    commitPath: pathOf(values['commit-path'], '/files/uploadsession/commit'),
    cancelPath: pathOf(values['cancel-path'], '/files/uploadsession'),
    batchPath: pathOf(values['batch-path'], '/files/uploadsession/batch'),
    given: [
      ...(['open', 'presign'] as const),
      ...(values['commit-path'] === undefined ? [] : (['commit'] as const)),
      ...(values['cancel-path'] === undefined ? [] : (['cancel'] as const)),
      ...(values['batch-path'] === undefined ? [] : (['batch'] as const)),
    ],
    authHeader: values['auth-header'] ?? 'Authorization',
    authScheme: values['auth-scheme'] ?? 'Bearer',
    fields: Object.fromEntries((values.field ?? []).map((field) => field.split(/=(.*)/s).slice(0, 2))),
    uploadOrigins: (values['upload-origins'] ?? '').split(/[\s,]+/).filter(Boolean),
    hash,
    waitMs: Number(wait) * 1000,
    limitMs: 600_000,
    only: values.only ?? '',
    isJson: values.json ?? false,
  };
}

/** Returns the token in a file (`-` is the standard input), or else `given`; `undefined` if there is none. */
function readToken(file?: string, given?: string): string | undefined {
  const text = file === undefined ? given : readFileSync(file === '-' ? 0 : file, 'utf8');
  if (file !== undefined && !/^\s*[^\s{]+\s*$/.test(text ?? ''))
    throw new Error(`${file} must hold only the token`);
  return text?.trim() || undefined;
}
