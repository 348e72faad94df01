/**
 * Gives each element the texts of its language: of the nearest `lang` attribute of the element, its ancestors or the page.
 * Loads only the languages that are used.
 *
 * @example
 * ```ts
 * import 'secure-uploader/define';
 * import 'secure-uploader/locales';
 * ```
 *
 * @module
 */

import type { LoginMessages } from './core/messages.ts';
import { warnOnConsole } from './core/warn.ts';
import { languages, type TextHost, updateTexts } from './ui/languages.ts';

type Load = () => Promise<{ readonly default: LoginMessages }>;

/** The locales of the package. */
const LOCALES: Readonly<Record<string, Load>> = {
  ar: () => import('./locales/ar.ts'),
  de: () => import('./locales/de.ts'),
  es: () => import('./locales/es.ts'),
  fr: () => import('./locales/fr.ts'),
  he: () => import('./locales/he.ts'),
  hi: () => import('./locales/hi.ts'),
  it: () => import('./locales/it.ts'),
  ja: () => import('./locales/ja.ts'),
  ko: () => import('./locales/ko.ts'),
  nl: () => import('./locales/nl.ts'),
  pl: () => import('./locales/pl.ts'),
  'pt-BR': () => import('./locales/pt-BR.ts'),
  sv: () => import('./locales/sv.ts'),
  tr: () => import('./locales/tr.ts'),
  uk: () => import('./locales/uk.ts'),
  'zh-CN': () => import('./locales/zh-CN.ts'),
};

const loaded = new Map<string, LoginMessages>();
/** Names of the locales that were requested. A request that failed is not repeated. */
const requested = new Set<string>();

const updateAll = (): void => {
  languages.hosts.forEach(updateTexts);
};

/** Returns language and script of a tag: `zh-Hant` for `zh-TW`, `pt-Latn` for `pt-PT`. */
function writtenIn(tag: string): string {
  const { language, script } = new Intl.Locale(tag).maximize();
  return `${language}-${script}`;
}

/** Returns the name of the locale with the language and script of `tag`; `undefined` if there is none, or `tag` is invalid. */
function localeFor(tag: string): string | undefined {
  try {
    const wanted = writtenIn(tag);
    return Object.keys(LOCALES).find((name) => writtenIn(name) === wanted);
  } catch {
    return undefined;
  }
}

let observer: MutationObserver | undefined;

/** Returns the value of the nearest `lang` attribute, also outside of shadow roots, and starts to observe these attributes. */
function tagOf(host: TextHost): string {
  observer ??= new MutationObserver(updateAll);
  let tag: string | null | undefined;
  for (let node: Element | undefined = host; node; ) {
    const root = node.getRootNode();
    observer.observe(root, { subtree: true, attributeFilter: ['lang'] });
    tag ??= node.closest('[lang]')?.getAttribute('lang');
    node = root instanceof ShadowRoot ? root.host : undefined;
  }
  return tag ?? '';
}

async function load(name: string): Promise<void> {
  if (requested.has(name)) return;
  requested.add(name);
  try {
    const { default: texts } = (await LOCALES[name]?.()) ?? {};
    if (!texts) return;
    loaded.set(name, texts);
    updateAll();
  } catch (error) {
    warnOnConsole(`the texts for "${name}" could not be loaded; they stay English`, error);
  }
}

languages.textsFor = (host) => {
  const name = localeFor(tagOf(host));
  if (name === undefined) return undefined;
  const texts = loaded.get(name);
  if (!texts) void load(name);
  return texts;
};
updateAll();
