// `@property` of Lit, for TypeScript's decorators only. Lit's own also supports the decorators of the standard, which takes 0.3 kB.

import type { PropertyDeclaration, ReactiveElement } from 'lit';
import { attributeOf } from '../core/config.ts';
import { warnOnceHere } from '../core/warn.ts';

/** Reads an attribute that is a word, as HTML does: the case does not matter. */
export const wordOf = (value: string | null): string | undefined => value?.trim().toLowerCase();

/**
 * Returns a function that reads the Boolean attribute `name` of a setting that protects users: unlike in HTML, not every value is
 * on. The function returns a text that it cannot read as it is, so that the settings are invalid.
 */
export const onOrOff =
  (name: string) =>
  (value: string | null): boolean | string => {
    const word = wordOf(value);
    if (word === undefined || word === 'false') return false;
    return ['', 'true', name].includes(word) || String(value);
  };

/** Like `onOrOff`, for an attribute that allows or keeps more: it is off if it cannot be read. */
export const onlyOn = (name: string) => {
  const readValue = onOrOff(name);
  return (value: string | null): boolean => {
    const isOn = readValue(value);
    if (typeof isOn === 'string') warnOnceHere(`${name}="${isOn}" is off. Write "true" or no value.`);
    return isOn === true;
  };
};

/** Reads `capture`, which needs no value. */
export const cameraOf = (value: string | null): string | undefined =>
  wordOf(value === '' ? 'environment' : value);

/** Makes a field a reactive property. By default, its attribute has the same name in kebab case. */
export const property =
  (options?: PropertyDeclaration) =>
  (prototype: ReactiveElement, name: string): void =>
    (prototype.constructor as typeof ReactiveElement).createProperty(name, {
      attribute: attributeOf(name),
      ...options,
    });
