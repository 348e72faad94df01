// Collects the settings from the element's properties, which have the same names. It knows their names and not their
// meaning.

import type { SettingsInput } from '../core/config.ts';

/** Settings that are properties of the same name. */
const SETTINGS = [
  'baseUrl',
  'parentId',
  'auth',
  'clientId',
  'redirectUri',
  'responseMode',
  'silent',
  'issuer',
  'idpId',
  'scope',
  'authHeader',
  'authScheme',
  'allowFramedLogin',
  'uploadOrigins',
  'owner',
  'accept',
  'multiple',
  'maxFiles',
  'maxFileSize',
  'chunkSize',
  'concurrency',
  'batchSize',
  'throttle',
  'hash',
  'manual',
  'noResume',
  'keepFiles',
  'keepDays',
  'onConflict',
  'workerUrl',
  'commitPath',
  'cancelPath',
  'authorizePath',
  'tokenPath',
  'loginPath',
  'challengePath',
  'logoutPath',
  'sessionPath',
  'chunksPath',
  'getToken',
  'parentFor',
  'profile',
  'authOptions',
] as const satisfies readonly (keyof SettingsInput)[];

/** What the element holds: null where an attribute was removed. */
export type SettingsHost = {
  readonly [K in (typeof SETTINGS)[number]]?: SettingsInput[K] | null | undefined;
};

/** True where one of the changed properties is a setting. */
export const areSettings = (changed: ReadonlyMap<PropertyKey, unknown>): boolean =>
  SETTINGS.some((name) => changed.has(name));

/** The settings that are set. */
export const readSettings = (host: SettingsHost): SettingsInput =>
  Object.fromEntries(SETTINGS.map((name) => [name, host[name] ?? undefined]));
