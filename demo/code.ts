// The code to copy: the element with its attributes and a token of the reference service, for HTML and three frameworks.

import type { SecureUploader } from 'secure-uploader';

/** Names of the kinds of code, as the site shows them. */
export const KINDS = ['HTML', 'React', 'Vue', 'Svelte'] as const;
export type Kind = (typeof KINDS)[number];

/** Attributes of the element, with an empty value for those that are on. */
export type Attributes = Readonly<Record<string, string>>;

const getToken = (baseUrl: string, types: '' | ': GetToken'): string =>
  `// A token of the reference service in test mode. In your app, ask your own server.
const getToken${types} = async (_reason, signal) => {
  const response = await fetch(${quotedScript(`${baseUrl}/_test/token`)}, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user: 'alice' }),
    signal,
  });
  if (!response.ok) throw new Error('No token');
  return response.json(); // { token, expires_at }, or only the token
};`;

/** A string in a script, which may be in HTML. */
const quotedScript = (text: string): string => {
  const escapes: Readonly<Record<string, string>> = { "'": "\\'", '\\': '\\\\', '\n': '\\n', '<': '\\x3c' };
  return `'${text.replace(/['\\\n<]/g, (letter) => escapes[letter] ?? letter)}'`;
};

const indented = (text: string): string => text.replace(/^(?=.)/gm, '  ');
const camelCase = (name: string): string =>
  name.replace(/-(.)/g, (_all, letter: string) => letter.toUpperCase());

/** Returns the tag with one line for each attribute. */
function tag(name: string, lines: readonly string[], end: string): string {
  return `<${name}\n${indented(lines.join('\n'))}\n${end}`;
}

const quoted = (name: string, value: string): string =>
  // `{` starts an expression in Svelte.
  value === '' ? name : `${name}="${value.replace(/[&"{\n]/g, (letter) => `&#${letter.charCodeAt(0)};`)}"`;

/**
 * Returns complete code of the kind: a page for HTML, otherwise a component. `hasToken` is false if users sign in at the service.
 */
export function codeOf(kind: Kind, attributes: Attributes, hasToken: boolean): string {
  const names = Object.entries(hasToken ? { ...attributes, owner: 'alice' } : attributes);
  const tokens = getToken(attributes['base-url'] ?? '', kind === 'HTML' ? '' : ': GetToken');
  const own = names.map(([name, value]) => quoted(name, value));
  const typeImport = hasToken ? "import type { GetToken } from 'secure-uploader';\n" : '';
  const closing = '></secure-uploader>';
  switch (kind) {
    case 'HTML': {
      const script = `const uploader = document.querySelector('secure-uploader');
${hasToken ? `${tokens}\nuploader.getToken = getToken;\n` : ''}uploader.addEventListener('upload-completed', ({ detail }) => {
  console.log(detail.name, detail.commit);
});`;
      return `<!doctype html>
<title>Upload</title>
<script type="module" src="secure-uploader.min.js"></script>
${tag('secure-uploader', own, closing)}
<script type="module">
${indented(script)}
</script>
`;
    }
    case 'React': {
      const props = names.map(([name, value]) =>
        /["&{\n]/.test(value)
          ? `${camelCase(name)}={${JSON.stringify(value)}}`
          : quoted(camelCase(name), value),
      );
      const handlers = ['onUploadCompleted={({ detail }) => console.log(detail.name, detail.commit)}'];
      if (hasToken) handlers.unshift('getToken={getToken}');
      const component = tag('SecureUploader', [...props, ...handlers], '/>');
      return `${typeImport}import { SecureUploader } from 'secure-uploader/react';

${hasToken ? `${tokens}\n\n` : ''}export const Files = () => (
${indented(component)}
);
`;
    }
    case 'Vue': {
      // vue-tsc loses the types of a tag after `//` in an attribute.
      const isUrl = ([, value]: readonly [string, string]): boolean => value.includes('//');
      const urls = names
        .filter(isUrl)
        .map(([name, value]) => `const ${camelCase(name)} = ${quotedScript(value)};\n`);
      const attributesOfTag = names.map((each) =>
        isUrl(each) ? `:${each[0]}="${camelCase(each[0])}"` : quoted(...each),
      );
      const listeners = ['@upload-completed="({ detail }) => log(detail.name, detail.commit)"'];
      if (hasToken) listeners.unshift(':getToken="getToken"');
      return `<script setup lang="ts">
// In vite.config.ts: vue({ template: { compilerOptions: { isCustomElement: (tag) => tag === 'secure-uploader' } } })
${typeImport}import 'secure-uploader/define';
import 'secure-uploader/vue';

${urls.join('')}const { log } = console;
${hasToken ? `${tokens}\n` : ''}</script>

<template>
${indented(tag('secure-uploader', [...attributesOfTag, ...listeners], closing))}
</template>
`;
    }
    case 'Svelte': {
      const listeners = ['onupload-completed={({ detail }) => console.log(detail.name, detail.commit)}'];
      if (hasToken) listeners.unshift('{getToken}');
      return `<script lang="ts">
${typeImport}import 'secure-uploader/define';
import 'secure-uploader/svelte';

${hasToken ? `${tokens}\n` : ''}</script>

${tag('secure-uploader', [...own, ...listeners], closing)}
`;
    }
  }
}

/**
 * Shows the code of `current` in `place`, with buttons that select the kind and copy the code. Returns a function that updates it.
 */
function showCode(
  place: HTMLElement,
  current: () => { readonly attributes: Attributes; readonly hasToken: boolean },
): () => void {
  const create = <K extends keyof HTMLElementTagNameMap>(name: K, fields: object): HTMLElementTagNameMap[K] =>
    Object.assign(document.createElement(name), fields);
  const code = create('pre', { tabIndex: 0, role: 'group', ariaLabel: 'Code' });
  const status = create('span', { role: 'status' });
  const group = create('div', { className: 'choices', role: 'group', ariaLabel: 'Language of the code' });
  let kind: Kind = 'HTML';
  const update = (): void => {
    const { attributes, hasToken } = current();
    code.textContent = codeOf(kind, attributes, hasToken);
    for (const button of group.children) button.ariaPressed = String(button.textContent === kind);
  };
  for (const name of KINDS) {
    const button = create('button', { type: 'button', textContent: name });
    button.addEventListener('click', () => {
      kind = name;
      status.textContent = '';
      update();
    });
    group.append(button);
  }
  const copy = create('button', { type: 'button', textContent: 'Copy' });
  copy.addEventListener('click', async () => {
    status.textContent = await copied(code.textContent ?? '');
  });
  const line = create('div', { className: 'line' });
  line.append(group, copy, status);
  place.append(line, code);
  update();
  return update;
}

/**
 * Shows the code of an element of the site in `place`, without the attributes that only the site needs. Returns a function that
 * updates it.
 */
export function showElementCode(
  place: HTMLElement,
  element: SecureUploader,
  siteOnly: readonly string[] = [],
): () => void {
  const hidden = ['style', 'hidden', ...siteOnly];
  return showCode(place, () => {
    const attributes = [...element.attributes].filter(({ name }) => !hidden.includes(name));
    return {
      attributes: Object.fromEntries(attributes.map(({ name, value }) => [name, value])),
      hasToken: element.getToken !== undefined,
    };
  });
}

/**
 * Copies a text, and resolves with a word for it. Browsers may forbid it, for example in a frame: then the console has the text.
 */
export const copied = (text: string): Promise<string> =>
  navigator.clipboard.writeText(text).then(
    () => 'Copied',
    () => {
      console.log(text);
      return 'See the console';
    },
  );
