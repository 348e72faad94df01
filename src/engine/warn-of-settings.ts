// Tells the developer of a page, with its first file, which settings its users go without.

import { hasPageTokens, isInteractive } from '../auth/settings.ts';
import type { Settings } from '../core/config.ts';
import { isLoopback } from '../core/loopback.ts';
import { warnOnConsole, warnOnce } from '../core/warn.ts';

/** One line of each kind for the page: what its first file finds, also if the page sets more later. */
const warnOfPage = warnOnce(warnOnConsole, (message) => message.slice(0, message.indexOf(' ')));

/**
 * Warns where pages are developed: on loopback hosts, and over http. A page over http on another host is a problem of its own,
 * because anyone in its network can replace the page. All uploaders of a page share one line.
 */
export function warnOfSettings(
  settings: Settings,
  { protocol, hostname }: Pick<Location, 'protocol' | 'hostname'> = location,
  warn = warnOfPage,
): void {
  const isRemote = protocol === 'http:' && !isLoopback(hostname);
  if (!isRemote && !isLoopback(hostname)) return;
  // Only responses of a sign-in page have an issuer.
  const hasIssuer = isInteractive(settings) && !hasPageTokens(settings) && settings.auth !== 'local';
  const missing = [
    settings.owner === '' && 'owner',
    settings.uploadOrigins.length === 0 && 'upload-origins',
    hasIssuer && settings.issuer === undefined && 'issuer',
  ].filter(Boolean);
  if (missing.length > 0)
    warn(`Not set: ${missing.join(', ')}. Each protects your users; see "What you must set" in SECURITY.md.`);
  if (isRemote)
    warn('This page was loaded over http, so others can change it and see what it sends. Use https.');
}
