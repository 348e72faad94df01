'use client';
// `SecureUploader`, a component for React 18 and 19 that renders the element. On a server, it renders only the tag.

import {
  createElement,
  type ForwardRefExoticComponent,
  forwardRef,
  type HTMLAttributes,
  type RefAttributes,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from 'react';
import type { SecureUploaderEvents } from './ui/event-map.ts';
import type { SecureUploader as SecureUploaderElement } from './ui/secure-uploader.ts';
import type { UploaderProps } from './ui/tag.ts';

export type { SecureUploaderElement };

/** Props that React renders as attributes, in addition to `aria-*`, `data-*` and listeners such as `onClick`. */
const HTML_PROPS = [
  ...(['children', 'className', 'dir', 'hidden', 'id', 'lang'] as const),
  ...(['role', 'slot', 'style', 'suppressHydrationWarning', 'tabIndex', 'title'] as const),
];
type HtmlProps = HTMLAttributes<SecureUploaderElement>;
type HtmlName = (typeof HTML_PROPS)[number] | `aria-${string}` | `on${string}`;

/** Properties and listeners of the element, such as `baseUrl` and `onUploadCompleted`, and common props of HTML elements. */
export type SecureUploaderProps = UploaderProps &
  Pick<HtmlProps, Exclude<Extract<keyof HtmlProps, HtmlName>, keyof UploaderProps>>;

type Props = Readonly<Record<string, unknown>>;
type AnyFunction = (...args: unknown[]) => unknown;

type FirstWord<Name> = Name extends `${infer Word}-${string}` ? Word : never;
/** First words of the names of the element's events. No event name of React starts with one of these words. */
const SUBJECTS: Readonly<Record<FirstWord<keyof SecureUploaderEvents>, true>> = {
  auth: true,
  chunk: true,
  file: true,
  rejections: true,
  signed: true,
  upload: true,
  uploads: true,
};

/** Returns the event of the element that a listener such as `onUploadCompleted` is for; `undefined` for other props. */
function eventOf(prop: string): string | undefined {
  if (!/^on[A-Z]/.test(prop)) return undefined;
  const name = prop.slice(3).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const event = `${prop[2]?.toLowerCase()}${name}`;
  return Object.hasOwn(SUBJECTS, event.split('-')[0] ?? '') ? event : undefined;
}

function isHtml(prop: string, value: unknown): boolean {
  if (/^on[A-Z]/.test(prop)) return typeof value === 'function' && !eventOf(prop);
  return /^(aria|data)-/.test(prop) || (HTML_PROPS as readonly string[]).includes(prop);
}

/** Names of attributes count as the property: JSX does not check the types of names with a hyphen. */
const camelCase = (name: string): string => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());

/** Divides props into those that React renders and those that are set on the element. */
function splitProps(props: object): { html: Props; own: Props } {
  const html: Record<string, unknown> = {};
  const own: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(props)) {
    if (!isHtml(name, value)) own[camelCase(name)] = value;
    // On custom elements, React 18 supports neither `className` nor boolean attributes.
    else if (name === 'className') html.class = value;
    else if (value !== false || name.includes('-')) html[name] = value;
  }
  return { html, own };
}

/**
 * Returns a function that sets changed props on `element`, and resets missing props to their defaults. Listeners and functions such
 * as `getToken` are set once and then replaced in place: the element starts a new session for each new `getToken`, and pages often
 * create functions with each rendering.
 */
function bind(element: HTMLElement): (props: Props) => void {
  const functions = new Map<string, AnyFunction>();
  const listened = new Set<string>();
  let before: Props = {};

  function listen(prop: string, event: string): void {
    if (listened.has(prop)) return;
    listened.add(prop);
    // After the component was unmounted, the element still reports that its uploads are paused.
    element.addEventListener(event, (...args) => {
      if (element.isConnected && typeof before[prop] === 'function') functions.get(prop)?.(...args);
    });
  }

  function set(prop: string, value: unknown): void {
    if (value === undefined) {
      const pristine = document.createElement(element.localName);
      if (prop in pristine) Reflect.set(element, prop, Reflect.get(pristine, prop));
      else Reflect.deleteProperty(element, prop); // The element is not defined yet.
    } else if (typeof value !== 'function') Reflect.set(element, prop, value);
    else if (typeof before[prop] !== 'function')
      Reflect.set(element, prop, (...args: unknown[]) => functions.get(prop)?.(...args));
  }

  return (props) => {
    for (const prop of new Set([...Object.keys(before), ...Object.keys(props)])) {
      const value = props[prop];
      if (typeof value === 'function') functions.set(prop, value as AnyFunction);
      const event = eventOf(prop);
      if (event) listen(prop, event);
      else if (!Object.is(value, before[prop])) set(prop, value);
    }
    before = props;
  };
}

/** React 18 warns about layout effects on servers. */
const useCommitEffect = typeof document === 'undefined' ? useEffect : useLayoutEffect;

/**
 * The element as a component. Listeners and functions such as `getToken` may be new with each rendering. The element is defined
 * after the first rendering: call methods of the ref in listeners, or after `customElements.whenDefined('secure-uploader')`.
 */
export const SecureUploader: ForwardRefExoticComponent<
  SecureUploaderProps & RefAttributes<SecureUploaderElement>
> = forwardRef<SecureUploaderElement, SecureUploaderProps>(function SecureUploader(props, ref) {
  const host = useRef<SecureUploaderElement>(null);
  const update = useRef<((props: Props) => void) | undefined>(undefined);
  const { html, own } = splitProps(props);
  useCommitEffect(() => {
    if (!host.current) return;
    update.current ??= bind(host.current);
    update.current(own);
  });
  useCommitEffect(() => {
    // Not imported above, because Lit needs `HTMLElement`, which some servers lack.
    void import('./define.ts');
  }, []);
  useImperativeHandle(ref, () => host.current as SecureUploaderElement, []);
  return createElement('secure-uploader', { ...html, ref: host });
});
