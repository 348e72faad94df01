// `@property` of Lit, for TypeScript's decorators only. Lit's own also supports the decorators of the standard, which takes 0.3 kB.

import type { PropertyDeclaration, ReactiveElement } from 'lit';
import { attributeOf } from '../core/config.ts';

/** Value of a Boolean attribute that weakens security: unlike in HTML, `false` turns it off. */
export const isOn = (value: string | null): boolean => value !== null && !/^\s*false\s*$/i.test(value);

/** Reads an attribute that is a word, as HTML does: the case does not matter. */
export const wordOf = (value: string | null): string | undefined => value?.trim().toLowerCase();

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
