// Types of the elements' tags in the templates of frameworks, derived from the classes and the events.

import type { LitElement } from 'lit';
import type { SecureUploaderEvents } from './event-map.ts';
import type { SecureUploader } from './secure-uploader.ts';
import type { SecureUploaderLogin } from './secure-uploader-login.ts';

type Kebab<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${Kebab<Rest>}`
  : Name;

type Pascal<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${Capitalize<First>}${Pascal<Rest>}`
  : Capitalize<Name>;

/** Names of the properties that a page may set. Excludes methods, properties of every element, and `Unset`. */
type SettableName<Element extends LitElement, Unset extends PropertyKey> = {
  [K in Exclude<keyof Element, keyof LitElement | Unset>]: Element[K] extends (
    ...args: never[]
  ) => Promise<unknown>
    ? never
    : K;
}[Exclude<keyof Element, keyof LitElement | Unset>];

type Optional<Props> = { [K in keyof Props]?: Props[K] | undefined };

/** Properties that a page may set. Uses `Pick`, because a mapped type with `as` loses the doc comments. */
type Settable<Element extends LitElement, Unset extends PropertyKey> = Optional<
  Pick<Element, SettableName<Element, Unset>>
>;

/** Types of a value that an attribute can have: text, numbers and booleans. `never` if the property has no attribute. */
type Text<Value> = Extract<NonNullable<Value>, string | number | boolean>;

/** Properties by attribute name. A property without an attribute keeps its own name. */
type Attributes<Props> = {
  [K in keyof Props & string as [Text<Props[K]>] extends [never] ? K : Kebab<K>]?:
    | ([Text<Props[K]>] extends [never] ? Props[K] : Text<Props[K]>)
    | undefined;
};

/** Listeners by event, such as `onupload-completed`. */
type Listeners<Events> = {
  [K in keyof Events & string as `on${K}`]?: ((event: Events[K]) => void) | undefined;
};

/** Listeners by event in camel case, such as `onUploadCompleted`. */
type CamelListeners<Events> = {
  [K in keyof Events & string as `on${Pascal<K>}`]?: ((event: Events[K]) => void) | undefined;
};

type Uploader = Settable<
  SecureUploader,
  | 'snapshot'
  | 'token'
  | 'texts'
  | 'format'
  | 'form'
  | 'validity'
  | 'validationMessage'
  | 'willValidate'
  | 'checkValidity'
  | 'reportValidity'
>;
type Login = Settable<SecureUploaderLogin, 'settings'>;
type LoginEvents = Pick<
  SecureUploaderEvents,
  'signed-in' | 'auth-changed' | 'auth-challenged' | 'auth-failed'
>;

/**
 * Attributes, properties and listeners of the tag `<secure-uploader>`. For example, `base-url` (attribute), `getToken` (property
 * without an attribute) and `onupload-completed` (listener).
 */
export type UploaderTag = Attributes<Uploader> & Listeners<SecureUploaderEvents>;
/** Attributes, properties and listeners of the tag `<secure-uploader-login>`. */
export type LoginTag = Attributes<Login> & Listeners<LoginEvents>;

/** Properties and listeners of `<secure-uploader>` in camel case, such as `baseUrl`, `getToken` and `onUploadCompleted`. */
export type UploaderProps = Uploader & CamelListeners<SecureUploaderEvents>;
/** Properties and listeners of `<secure-uploader-login>` in camel case. */
export type LoginProps = Login & CamelListeners<LoginEvents>;
