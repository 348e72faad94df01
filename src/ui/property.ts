// `@property` of Lit, for TypeScript's decorators only. Lit's own also supports the decorators of the standard, which takes 0.3 kB.

import type { PropertyDeclaration, ReactiveElement } from 'lit';

/** Makes a field a reactive property. */
export const property =
  (options?: PropertyDeclaration) =>
  (prototype: ReactiveElement, name: PropertyKey): void =>
    (prototype.constructor as typeof ReactiveElement).createProperty(name, options);
