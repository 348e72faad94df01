// The types of the elements' tags in the templates of frameworks, derived from the classes and the events.

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

/** The names of the properties that a page may set: not those of every element, not `Unset`, and no methods. */
type SettableName<Element extends LitElement, Unset extends keyof Element> = {
  [K in Exclude<keyof Element, keyof LitElement | Unset>]: Element[K] extends (
    ...args: never[]
  ) => Promise<unknown>
    ? never
    : K;
}[Exclude<keyof Element, keyof LitElement | Unset>];

type Optional<Props> = { [K in keyof Props]?: Props[K] | undefined };

/** Built with `Pick`, since TypeScript keeps no doc comments in a mapped type with `as`. */
type Settable<Element extends LitElement, Unset extends keyof Element> = Optional<
  Pick<Element, SettableName<Element, Unset>>
>;

/** What an attribute of a property can be: all but functions, objects and arrays; `never` without an attribute. */
type Text<Value> = Extract<NonNullable<Value>, string | number | boolean>;

/** Properties by the name of their attribute; those without an attribute by their own name. */
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

type Uploader = Settable<SecureUploader, 'snapshot' | 'token' | 'texts' | 'format'>;
type Login = Settable<SecureUploaderLogin, 'settings'>;
type LoginEvents = Pick<
  SecureUploaderEvents,
  'signed-in' | 'auth-changed' | 'auth-challenged' | 'auth-failed'
>;

/**
 * What the tag `<secure-uploader>` takes: attributes such as `base-url`, properties without an attribute such as `getToken`, and
 * listeners such as `onupload-completed`.
 */
export type UploaderTag = Attributes<Uploader> & Listeners<SecureUploaderEvents>;
/** What the tag `<secure-uploader-login>` takes. */
export type LoginTag = Attributes<Login> & Listeners<LoginEvents>;

/** What `<secure-uploader>` takes, in camel case, such as `baseUrl`, `getToken`, `onUploadCompleted`. */
export type UploaderProps = Uploader & CamelListeners<SecureUploaderEvents>;
/** What `<secure-uploader-login>` takes, in camel case. */
export type LoginProps = Login & CamelListeners<LoginEvents>;
