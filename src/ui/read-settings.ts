// Collects the settings from the element's properties. Warns about misspelled attributes, and about properties in HTML.

import type { LitElement } from 'lit';
import type { SettingsInput } from '../core/config.ts';
import { warnOnceHere } from '../core/warn.ts';
import { wordOf } from './property.ts';

/** Properties of the element. A property is `null` after its attribute was removed. */
export type SettingsHost = {
  readonly [K in keyof SettingsInput]?: SettingsInput[K] | null | undefined;
};

/** Returns all reactive properties of the element. The parser ignores properties that are not settings. */
export function readSettings(host: SettingsHost & HTMLElement): SettingsInput {
  const { elementProperties } = host.constructor as typeof LitElement;
  const names = [...elementProperties.keys()] as (keyof SettingsInput)[];
  return Object.fromEntries(names.map((name) => [name, host[name] ?? undefined]));
}

const plain = (name: string): string => name.replace(/[-_]/g, '');

/** Warns about misspelled attributes, about properties as attributes, and about attributes that "false" does not turn off. */
export function warnOfAttributes(host: HTMLElement): void {
  const { observedAttributes: ours, elementProperties } = host.constructor as typeof LitElement;
  for (const { type, attribute, converter } of elementProperties.values())
    if (type === Boolean && !converter && wordOf(host.getAttribute(String(attribute))) === 'false')
      warnOnceHere(`${attribute}="false" is on, as every value in HTML. Remove the attribute.`);
  const properties = [...elementProperties.keys(), 'token'] as string[];
  for (const name of host.getAttributeNames()) {
    if (ours.includes(name)) continue;
    const property = properties.find((one) => one.toLowerCase() === plain(name));
    const meant =
      ours.find((one) => plain(one) === plain(name)) ??
      (property && `the property ${property}`) ??
      (name[6] && ours.find((one) => one.startsWith(name.slice(0, 7))));
    if (meant) warnOnceHere(`The attribute ${name} does not exist. Did you mean ${meant}?`);
  }
}
