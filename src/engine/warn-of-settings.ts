// Tells the developer of a page, with its first file, which settings its users go without, and which have no effect. Loaded only
// where pages are developed. Imports only warn.ts, as other late parts do: any other module that is shared would be a file of its
// own for every page.

import type { RetryPolicy } from '../core/retries.ts';
import type { Settings } from '../core/settings-table.ts';
import { warnOnConsole, warnOnce } from '../core/warn.ts';
import type { Times } from './connection.ts';
import type { UploaderOptions } from './uploader-options.ts';

/** One line of each kind for the page: what its first file finds, also if the page sets more later. */
const warnOfPage = warnOnce(warnOnConsole, (message) => message.slice(0, message.indexOf(' ')));

/** Media types that do not exist, and what pages mean with them. */
const MEANT_TYPES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/svg', 'image/svg+xml'],
  ['image/tif', 'image/tiff'],
  ['audio/mp3', 'audio/mpeg'],
  ['audio/m4a', 'audio/mp4'],
  ['video/mov', 'video/quicktime'],
  ['video/avi', '.avi'],
  ['text/txt', 'text/plain'],
  ['text/md', 'text/markdown'],
  ['application/doc', 'application/msword'],
  ['application/word', 'application/msword'],
  ['application/docx', '.docx'],
  ['application/xls', 'application/vnd.ms-excel'],
  ['application/excel', 'application/vnd.ms-excel'],
  ['application/xlsx', '.xlsx'],
  ['application/ppt', 'application/vnd.ms-powerpoint'],
  ['application/pptx', '.pptx'],
  ['application/csv', 'text/csv'],
]);

/**
 * Warns where pages are developed: on loopback hosts, and over http. A page over http on another host is a problem of its own,
 * because anyone in its network can replace the page. All uploaders of a page share one line.
 */
export function warnOfSettings(
  settings: Settings,
  isLoopback: (hostname: string) => boolean,
  { protocol, hostname }: Pick<Location, 'protocol' | 'hostname'> = location,
  warn = warnOfPage,
): void {
  const isRemote = protocol === 'http:' && !isLoopback(hostname);
  if (!isRemote && !isLoopback(hostname)) return;
  const { auth, getToken } = settings;
  // Only responses of a sign-in page have an issuer.
  const hasIssuer = auth === 'auto' ? !getToken : auth === 'popup' || auth === 'redirect';
  const missingSettings = [
    settings.owner === '' && 'owner',
    settings.uploadOrigins.length === 0 && 'upload-origins',
    hasIssuer && settings.issuer === undefined && 'issuer',
  ].filter(Boolean);
  if (missingSettings.length > 0)
    warn(
      `Not set: ${missingSettings.join(', ')}. Each protects your users; see "What you must set" in SECURITY.md.`,
    );
  if (isRemote)
    warn('This page was loaded over http, so others can change it and see what it sends. Use https.');
  if (settings.batchPath && !settings.commitPath) warn('batch-path has no effect without commit-path.');
  else if (settings.batchPath && settings.profile.chunkSize)
    warn(
      'batch-path has no effect with profile.chunkSize: the first chunks are sent before the service could choose their size.',
    );
  warnOfNumbers(settings, warn);
  warnOfTypes(settings.accept, warn);
}

function warnOfTypes(accept: string, warn: typeof warnOfPage): void {
  const entries = accept.split(',');
  const joined = entries
    .map((entry) => entry.replace(/;[^;=]*=[^;]*/g, '').trim())
    .find((entry) => /[\s;]/.test(entry));
  if (joined)
    warn(
      `accept="${accept}" has "${joined}" as one type. Write "${joined.split(/[\s;]+/).filter(Boolean)}".`,
    );
  const misfit = joined ? undefined : entries.find((entry) => !/^\s*(\.|\*?\s*$)|\//.test(entry));
  // Such an entry matches no file, so it allows nothing.
  if (misfit)
    warn(
      `accept="${accept}" has the invalid entry "${misfit}". Use an extension such as .pdf or a type such as image/*.`,
    );
  const wrong = entries
    .map((entry) => entry.replace(/;.*/s, '').trim().toLowerCase())
    .find((type) => MEANT_TYPES.has(type));
  if (wrong) warn(`accept has "${wrong}", which is no media type. Did you mean "${MEANT_TYPES.get(wrong)}"?`);
}

function warnOfNumbers({ minFiles, maxFiles, multiple }: Settings, warn: typeof warnOfPage): void {
  if (!multiple && minFiles > 1) warn(`min-files="${minFiles}" needs multiple, or no form is ever sent.`);
  if (!multiple && maxFiles > 1 && Number.isFinite(maxFiles))
    warn(`max-files="${maxFiles}" has no effect without multiple.`);
  if (multiple && minFiles > maxFiles)
    warn(`min-files="${minFiles}" is more than max-files="${maxFiles}", so no form is ever sent.`);
}

/** Names of options, and of those in an option. */
const OPTIONS: Readonly<Record<keyof UploaderOptions, readonly string[]>> = {
  times: Object.keys({
    callTimeoutMs: 0,
    stallMs: 0,
    transformMs: 0,
    photoMs: 0,
    auth: 0,
  } satisfies Record<keyof Times, 0>),
  policy: Object.keys({
    attempts: 0,
    baseMs: 0,
    capMs: 0,
    limitMs: 0,
    maxMs: 0,
  } satisfies Record<keyof RetryPolicy, 0>),
  commitDeadlineMs: [],
  store: [],
  onSpan: [],
  warn: [],
  connect: [],
  page: [],
};

/** Warns about options that do not exist. */
export function warnOfOptions(options: UploaderOptions): void {
  const warn = warnOfPage;
  warnOfNames('engineOptions', options, Object.keys(OPTIONS), warn);
  for (const name of ['times', 'policy'] as const)
    warnOfNames(`engineOptions.${name}`, options[name] ?? {}, OPTIONS[name], warn);
}

function warnOfNames(
  place: string,
  value: object,
  knownNames: readonly string[],
  warn: typeof warnOfPage,
): void {
  for (const name of Object.keys(value)) {
    if (knownNames.includes(name)) continue;
    const start = name.slice(0, 4).toLowerCase();
    const meant = knownNames.find((one) => one.toLowerCase().startsWith(start));
    warn(`${place}.${name} is unknown.${meant ? ` Did you mean ${meant}?` : ''}`);
  }
}
