// The settings as properties of the element: `SETTINGS` says which there are, and which attributes they have.

import { LitElement, type PropertyDeclaration } from 'lit';
import { attributeOf, SETTING_PROPERTIES } from '../core/config.ts';
import type { AttributeKind, SettingsInput } from '../core/settings-table.ts';
import { onlyOn, onOrOff } from './property.ts';

/** Settings that are `true` or `false`. The element has `false` for one that is unset. */
type FlagName = {
  [K in keyof SettingsInput]-?: Exclude<SettingsInput[K], undefined> extends boolean ? K : never;
}[keyof SettingsInput];

/** Uses `Pick`, because a mapped type with `as` loses the doc comments. */
type SettingProperties = { [K in keyof Pick<SettingsInput, FlagName>]-?: boolean } & Pick<
  SettingsInput,
  Exclude<keyof SettingsInput, FlagName>
>;

export interface SettingsElement extends SettingProperties {}

const OPTIONS: Readonly<Record<AttributeKind, (attribute: string) => PropertyDeclaration>> = {
  text: (attribute) => ({ attribute }),
  'on-or-off': (attribute) => ({ attribute, type: Boolean, converter: onOrOff(attribute) }),
  'only-on': (attribute) => ({ attribute, type: Boolean, converter: onlyOn(attribute) }),
  none: () => ({ attribute: false }),
};

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: Lit defines the properties of the interface.
export abstract class SettingsElement extends LitElement {
  static {
    for (const [name, { attribute, isAlwaysNew }] of SETTING_PROPERTIES) {
      const options = OPTIONS[attribute](attributeOf(name));
      SettingsElement.createProperty(name, isAlwaysNew ? { ...options, hasChanged: () => true } : options);
    }
  }

  constructor() {
    super();
    for (const [name, { type }] of SettingsElement.elementProperties)
      if (type === Boolean) Reflect.set(this, name, false);
  }
}
