// The types of the elements' tags in JSX and in templates of Vue and Svelte, and the component for React on a server. Imported by
// loaded.test.ts.

import assert from 'node:assert/strict';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compile } from './compile.ts';
import { declarationsOf, type PackedApp, sharedApp } from './packed.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Copies of the interfaces of Vue and Svelte that the package's types use. The frameworks themselves are large, and their
 * templates need their own compilers.
 */
const VUE = `export interface HTMLAttributes { class?: unknown; onClick?: (event: PointerEvent) => void }
export interface PublicProps { key?: PropertyKey }
export interface GlobalComponents {}
`;
const SVELTE = `export interface HTMLAttributes<T extends EventTarget> {
  class?: unknown;
  onclick?: (event: PointerEvent & { currentTarget: T }) => void;
}
export interface SvelteHTMLElements {}
`;

const JSX = `import 'secure-uploader/jsx';
import { createRef } from 'react';
import type { SecureUploader } from 'secure-uploader';

const ref = createRef<SecureUploader>();
export const right = [
  <secure-uploader
    key="1" ref={ref} className="wide" style={{ color: 'red' }}
    base-url="https://files.example" auth="popup" max-files={3} max-file-size="5MB" multiple no-resume={false}
    getToken={(reason, signal) => (signal.aborted ? '' : \`token-\${reason satisfies 'first' | 'expired' | 'rejected'}\`)}
    profile={{ missingChunk: 'stored' }}
    onClick={(event) => event.currentTarget.pause()}
    onfile-add={(event) => event.preventDefault()}
    onupload-completed={({ detail }) => console.log(detail.sentBytes.toFixed(), detail.chunks[0]?.receipt)}
  ><p slot="hint">Up to 5 MB</p></secure-uploader>,
  <secure-uploader-login key="2" base-url="https://files.example" onsigned-in={({ detail }) => console.log(detail.expiresAt)} />,
];
export const wrong = [
  // @ts-expect-error There is no such way to sign in.
  <secure-uploader key="1" auth="window" />,
  // @ts-expect-error The token is no attribute.
  <secure-uploader key="2" token="secret" />,
  // @ts-expect-error The snapshot is read-only.
  <secure-uploader key="3" snapshot={{}} />,
  // @ts-expect-error A method can't be set as a prop.
  <secure-uploader key="4" addFiles={() => undefined} />,
  // @ts-expect-error The detail has no such field.
  <secure-uploader key="5" onupload-completed={({ detail }) => console.log(detail.receipts)} />,
  // @ts-expect-error The file is not added yet, so it has no id.
  <secure-uploader key="6" onfile-add={({ detail }) => console.log(detail.id)} />,
];
`;

const COMPONENT = `import { SecureUploader, type SecureUploaderElement, type SecureUploaderProps } from 'secure-uploader/react';
import { createRef } from 'react';
import type { SecureUploader as Element, UploaderProps } from 'secure-uploader';

const ref = createRef<SecureUploaderElement>();
export const element: Element | null = ref.current;
export const props: SecureUploaderProps = {} satisfies UploaderProps;
export const right = (
  <SecureUploader
    key="1" ref={ref} className="wide" id="files" style={{ color: 'red' }} aria-label="Files" data-test="files"
    baseUrl="https://files.example" auth="popup" maxFiles={3} multiple onConflict="rename" accept={undefined}
    getToken={(reason, signal) => (signal.aborted ? '' : \`token-\${reason satisfies 'first' | 'expired' | 'rejected'}\`)}
    onClick={(event) => event.currentTarget.pause()}
    onFileAdd={(event) => event.preventDefault()}
    onUploadCompleted={({ detail }) => console.log(detail.sentBytes.toFixed(), detail.chunks[0]?.receipt)}
  ><p slot="hint">Up to 5 MB</p></SecureUploader>
);
export const wrong = [
  // @ts-expect-error There is no such way to sign in.
  <SecureUploader key="1" auth="window" />,
  // @ts-expect-error The name of a property is in camel case.
  <SecureUploader key="2" baseURL="https://files.example" />,
  // @ts-expect-error The token is write-only.
  <SecureUploader key="3" token="secret" />,
  // @ts-expect-error There is no such event.
  <SecureUploader key="4" onUploadComplete={() => undefined} />,
  // @ts-expect-error The detail has no such field.
  <SecureUploader key="5" onUploadCompleted={({ detail }) => console.log(detail.receipts)} />,
  // @ts-expect-error A method is not set.
  <SecureUploader key="6" addFiles={() => undefined} />,
];
`;

const ON_SERVER = `import { createElement } from 'react';
import { renderToString } from 'react-dom/server.edge';

const before = Object.getOwnPropertyNames(globalThis);
const { SecureUploader } = await import('secure-uploader/react');
const props = { id: 'files', baseUrl: 'https://files.example', multiple: true, getToken: () => '', onUploadCompleted: () => undefined };
const html = renderToString(createElement(SecureUploader, props, createElement('p', { slot: 'hint' }, 'Up to 5 MB')));
const added = Object.getOwnPropertyNames(globalThis).filter((name) => !before.includes(name));
console.log(JSON.stringify({ html, added }));
`;

const IN_VUE = `import 'secure-uploader/vue';
import type { GlobalComponents, HTMLAttributes } from 'vue';

export const child: HTMLAttributes = { slot: 'hint' };
type Props = InstanceType<GlobalComponents['secure-uploader']>['$props'];
type LoginProps = InstanceType<GlobalComponents['secure-uploader-login']>['$props'];
export const right: Props = {
  class: 'wide', key: 1, onClick: (event) => console.log(event.clientX),
  baseUrl: 'https://files.example', auth: 'popup', maxFiles: 3, noResume: false, getToken: (reason) => reason,
  onUploadCompleted: ({ detail }) => console.log(detail.sentBytes.toFixed()),
};
export const login: LoginProps = { onSignedIn: ({ detail }) => console.log(detail.expiresAt) };
// @ts-expect-error There is no such way to sign in.
export const window: Props = { auth: 'window' };
// @ts-expect-error There is no such attribute.
export const typo: Props = { ownr: 'user-7' };
// @ts-expect-error There is no such event.
export const complete: Props = { onUploadComplete: () => undefined };
`;

const IN_SVELTE = `import 'secure-uploader/svelte';
import type { SvelteHTMLElements } from 'svelte/elements';

type Tag = SvelteHTMLElements['secure-uploader'];
export const right: Tag = {
  class: 'wide', onclick: (event) => event.currentTarget.pause(),
  'base-url': 'https://files.example', auth: 'popup', 'max-files': 3, 'no-resume': false, getToken: (reason) => reason,
  'onupload-completed': ({ detail }) => console.log(detail.sentBytes.toFixed()),
};
export const login: SvelteHTMLElements['secure-uploader-login'] = { 'onsigned-in': ({ detail }) => console.log(detail.expiresAt) };
// @ts-expect-error There is no such way to sign in.
export const window: Tag = { auth: 'window' };
// @ts-expect-error There is no such attribute.
export const typo: Tag = { 'base-ur': 'https://files.example' };
// @ts-expect-error There is no such event.
export const complete: Tag = { 'onupload-complete': () => undefined };
`;

describe('The entries for frameworks', () => {
  let app: PackedApp;
  before(async () => {
    app = await sharedApp();
    const modules = join(app.folder, 'node_modules');
    const stub = async (name: string, file: string, text: string): Promise<void> => {
      await mkdir(join(modules, name));
      const manifest = {
        name,
        version: '1.0.0',
        type: 'module',
        exports: { '.': `./${file}`, './elements': `./${file}` },
      };
      await writeFile(join(modules, name, 'package.json'), JSON.stringify(manifest));
      await writeFile(join(modules, name, file), text);
    };
    await stub('vue', 'index.d.ts', VUE);
    await stub('svelte', 'elements.d.ts', SVELTE);
    await mkdir(join(modules, '@types'));
    for (const name of ['@types/react', 'react', 'react-dom', 'scheduler'])
      await symlink(join(root, 'node_modules', name), join(modules, name));
  });

  test('have types with every attribute and event of the elements, and no others, in JSX and in templates of Vue and Svelte', async () => {
    const declarations = await declarationsOf(app);
    const namesOf = (tag: string): string => {
      const element = declarations.find(({ tagName }) => tagName === tag);
      assert.ok(element?.attributes && element.events, tag);
      const names = [
        ...element.attributes.map(({ name }) => name),
        ...element.events.map(({ name }) => `on${name}`),
      ];
      return names.map((name) => `'${name}'`).join(' | ');
    };
    await compile(
      app,
      'frameworks',
      {
        'jsx.tsx': JSX,
        'component.tsx': COMPONENT,
        'vue.ts': IN_VUE,
        'svelte.ts': IN_SVELTE,
        'names.ts': `import type { LoginTag, UploaderTag } from 'secure-uploader';

type Difference<A, B> = Exclude<A, B> | Exclude<B, A>;
const none = <T extends [never]>(): T | undefined => undefined;
type Values = 'getToken' | 'formValue' | 'parentFor' | 'transformFile' | 'profile' | 'authOptions' | 'idps' | 'engineOptions' | 'messages';
none<[Difference<keyof UploaderTag, Values | ${namesOf('secure-uploader')}>]>();
none<[Difference<keyof LoginTag, 'authOptions' | 'idps' | 'messages' | ${namesOf('secure-uploader-login')}>]>();
`,
      },
      ['node'],
    );
  });

  test('let the component for React render on any server: only the tag, without browser globals', async () => {
    await app.write('server.js', ON_SERVER);
    const expected = '<secure-uploader id="files"><p slot="hint">Up to 5 MB</p></secure-uploader>';
    // Bundlers for edge runtimes select the modules for browsers.
    for (const conditions of ['node', 'browser']) {
      const printed = JSON.parse(await app.node(`--conditions=${conditions}`, 'server.js'));
      assert.deepEqual(printed, { html: expected, added: [] }, conditions);
    }
  });

  test('mark the component as client code, for servers that render React components', async () => {
    const code = await readFile(join(app.packageFolder, 'dist/react.js'), 'utf8');
    assert.match(code, /^'use client';\n/);
  });
});
