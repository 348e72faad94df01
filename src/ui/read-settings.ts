// Collects the settings from the element's properties, which have the same names, and tells of attributes that are none. It knows
// neither their names nor their meaning, but that a token is no attribute.

import type { LitElement } from 'lit';
import type { SettingsInput } from '../core/config.ts';
import { warnOnceHere } from '../core/warn.ts';

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

const plain = (name: string): string => name.replace(/[-_]/g, '');

/** Tells the page's author of attributes that are not read: a token, and names that are nearly ours. */
export function warnOfAttributes(host: HTMLElement): void {
  const { observedAttributes: ours } = host.constructor as typeof LitElement;
  for (const name of host.getAttributeNames()) {
    const meant = ours.find((one) => plain(one) === plain(name));
    if (meant && meant !== name) warnOnceHere(`${name} is not known: write ${meant}.`);
    if (name === 'token')
      warnOnceHere('the attribute token is ignored, since HTML is no place for secrets: set the property.');
  }
}
