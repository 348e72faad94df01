// Collects the settings from the element's properties. Warns about misspelled attributes, and about properties in HTML; refuses
// those that mean a setting that protects users.

import type { LitElement } from 'lit';
import { PROTECTING, SETTING_PROPERTIES } from '../core/config.ts';
import { UploaderError } from '../core/errors.ts';
import type { SettingsInput } from '../core/settings-table.ts';
import { warnOnceHere } from '../core/warn.ts';
import { wordOf } from './property.ts';

/** Properties of the element. A property is `null` after its attribute was removed. */
export type SettingsHost = {
  readonly [K in keyof SettingsInput]?: SettingsInput[K] | null | undefined;
};

/** Returns the settings among the properties of the element. */
export const readSettings = (host: SettingsHost): SettingsInput =>
  Object.fromEntries(SETTING_PROPERTIES.map(([name]) => [name, host[name] ?? undefined]));

const plain = (name: string): string => name.replace(/[-_]/g, '');

/** An attribute that does not exist, and the setting that it probably means. */
interface Misspelling {
  readonly name: string;
  readonly meant: string;
  readonly property: string;
}

function misspellingsIn(host: HTMLElement): readonly Misspelling[] {
  const { observedAttributes: ours, elementProperties } = host.constructor as typeof LitElement;
  const properties = [...elementProperties.keys(), 'token'] as string[];
  const attributes = new Map(
    [...elementProperties].map(([property, { attribute }]) => [String(attribute), String(property)]),
  );
  return host.getAttributeNames().flatMap((name) => {
    if (ours.includes(name)) return [];
    const attribute = ours.find((one) => plain(one) === plain(name));
    const property = properties.find((one) => one.toLowerCase() === plain(name));
    if (!attribute && property) return [{ name, meant: `the property ${property}`, property }];
    const meant = attribute ?? (name[6] && ours.find((one) => one.startsWith(name.slice(0, 7))));
    return meant ? [{ name, meant, property: attributes.get(meant) ?? meant }] : [];
  });
}

const textOf = ({ name, meant }: Misspelling): string =>
  `The attribute ${name} does not exist. Did you mean ${meant}?`;

/**
 * Throws `bad-config` if the page has misspelled a setting that protects users, and has not set it in another way: its default
 * allows more than the page wants.
 */
export function refuseMisspellings(host: SettingsHost & HTMLElement): void {
  for (const misspelling of misspellingsIn(host)) {
    const setting = misspelling.property as keyof SettingsInput;
    if (PROTECTING.includes(setting) && !host[setting])
      throw new UploaderError('bad-config', textOf(misspelling));
  }
}

/** Warns about misspelled attributes, about properties as attributes, and about attributes that "false" does not turn off. */
export function warnOfAttributes(host: HTMLElement): void {
  const { elementProperties } = host.constructor as typeof LitElement;
  for (const { type, attribute, converter } of elementProperties.values())
    if (type === Boolean && !converter && wordOf(host.getAttribute(String(attribute))) === 'false')
      warnOnceHere(`${attribute}="false" is on, as every value in HTML. Remove the attribute.`);
  for (const misspelling of misspellingsIn(host)) warnOnceHere(textOf(misspelling));
}
