// The settings that make the uploader work with the service: attributes, and the source of `profile`.

import type { Options } from './options.ts';

export class FoundSettings {
  readonly attributes = new Map<string, string>();
  readonly #profile = new Map<string, string>();
  readonly #statuses = new Map<string, Map<number, string>>();

  constructor(options: Options) {
    const { fields } = options;
    this.attributes.set('base-url', options.baseUrl).set('parent-id', options.parentId);
    const settingsWithDefaults = [
      ['session-path', options.sessionPath, '/files/uploadsession'],
      ['chunks-path', options.chunksPath, '/files/uploadsession/chunks'],
      ['auth-header', options.authHeader, 'Authorization'],
      ['auth-scheme', options.authScheme, 'Bearer'],
      ['hash', options.hash, 'sha-256'],
    ] as const;
    for (const [name, value, defaultValue] of settingsWithDefaults)
      if (value !== defaultValue) this.attributes.set(name, value);
    this.attributes.set('auth', options.token === undefined ? 'none' : 'token');
    if (Object.keys(fields).length > 0) this.setProfile('sessionFields', `() => (${JSON.stringify(fields)})`);
  }

  /** Returns the setting in one line, for a finding. */
  setAttribute(name: string, value: string): string {
    this.attributes.set(name, value);
    return `${name}="${value}"`;
  }

  /** `source` is a JavaScript expression. */
  setProfile(name: string, source: string): string {
    this.#profile.set(name, source);
    return `profile.${name}: ${source}`;
  }

  setStatus(name: 'statuses' | 'putStatuses', status: number, meaning: string): string {
    const meanings = this.#statuses.get(name) ?? new Map<number, string>();
    this.#statuses.set(name, meanings.set(status, meaning));
    const list = [...meanings]
      .map(([eachStatus, eachMeaning]) => `${eachStatus}: '${eachMeaning}'`)
      .join(', ');
    return this.setProfile(name, `{ ${list} }`);
  }

  /** Returns a field of the profile in one line; `undefined` if its default works. */
  lineOf(name: string): string | undefined {
    const source = this.#profile.get(name);
    return source && `profile.${name}: ${source}`;
  }

  /** The element with all attributes. */
  get html(): string {
    const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
    const list = [...this.attributes].map(([name, value]) => `\n  ${name}="${escaped(value)}"`);
    return `<secure-uploader${list.join('')}></secure-uploader>`;
  }

  /** The source of `profile` as an object expression; `{}` if the defaults work. */
  get profile(): string {
    const lines = [...this.#profile].map(([name, source]) => `\n  ${name}: ${source},`);
    return lines.length > 0 ? `{${lines.join('')}\n}` : '{}';
  }
}
