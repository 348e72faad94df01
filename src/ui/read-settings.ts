// Collects the settings from the element's properties, which have the same names. It knows neither their names nor their meaning.

import type { LitElement } from 'lit';
import type { SettingsInput } from '../core/config.ts';

/** What the element holds: null where an attribute was removed. */
export type SettingsHost = {
  readonly [K in keyof SettingsInput]?: SettingsInput[K] | null | undefined;
};

/** The settings that are set, with what else the element has for properties, which is none. */
export function readSettings(host: SettingsHost & HTMLElement): SettingsInput {
  const { elementProperties } = host.constructor as typeof LitElement;
  const names = [...elementProperties.keys()] as (keyof SettingsInput)[];
  return Object.fromEntries(names.map((name) => [name, host[name] ?? undefined]));
}
