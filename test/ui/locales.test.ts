// Texts by language: on demand by the nearest `lang` attribute with `secure-uploader/locales`, and no hard-coded text in any view.

import { expect, fixture, html } from '@open-wc/testing';
import { render, type TemplateResult } from 'lit';
import '../../src/define.ts';
import '../../src/login.ts';
import { file, snapshot } from '../../demo/states/snapshots.ts';
import type { Change } from '../../src/core/changes.ts';
import type { LoginMessages } from '../../src/core/messages.ts';
import type { SecureUploader } from '../../src/index.ts';
import { ENGLISH_LOGIN } from '../../src/locales/en-login.ts';
import { Announcer } from '../../src/ui/announcer.ts';
import { languages } from '../../src/ui/languages.ts';
import { loginStyles } from '../../src/ui/styles/login-styles.ts';
import { styles } from '../../src/ui/styles/styles.ts';
import { loginStep } from '../../src/ui/views/login-step.ts';
import { STEPS, viewOf } from './login-cases.ts';
import { marked, rewritten } from './pseudo.ts';
import { show } from './show.ts';
import { one, shown } from './support.ts';
import { VIEW_STATES } from './view-states.ts';

const titleOf = (element: SecureUploader): string =>
  one(element, '[part~=drop-zone] [data-action=browse]').textContent?.trim() ?? '';

/** Resolves when the element shows the button `text`. */
const showing = (element: SecureUploader, text: string): Promise<unknown> =>
  shown(() => titleOf(element) === text);

/** Creates an element inside `template`. */
async function place(template: TemplateResult): Promise<SecureUploader> {
  const outer = await fixture<HTMLElement>(template);
  const element = document.createElement('secure-uploader');
  Object.assign(element, { baseUrl: 'https://files.example', parentId: 'a', multiple: true, auth: 'none' });
  (outer.shadowRoot ?? outer).append(element);
  await element.updateComplete;
  return element;
}

const CHOOSE = {
  en: 'Choose files',
  de: 'Dateien auswählen',
  fr: 'Choisir des fichiers',
  es: 'Elegir archivos',
};

describe('texts by language', () => {
  let early: SecureUploader;

  before(async () => {
    early = await place(html`<div lang="de"></div>`);
    expect(titleOf(early)).to.equal(CHOOSE.en);
    expect(languages.textsFor).to.equal(undefined);
    const loading = import('../../src/locales.ts');
    await showing(early, CHOOSE.de);
    await loading;
  });

  after(() => {
    document.documentElement.lang = 'en';
  });

  it('come to elements that were there before the languages', async () => {
    const element = await place(html`<div lang="de"></div>`);
    expect(titleOf(element)).to.equal(CHOOSE.de);
  });

  it('are those of the nearest lang attribute', async () => {
    const element = await place(html`<div lang="de"></div>`);
    element.lang = 'fr';
    await showing(element, CHOOSE.fr);
    element.removeAttribute('lang');
    await showing(element, CHOOSE.de);
  });

  it('name their language, which can differ from that of the page', async () => {
    const langOf = (element: SecureUploader): string[] =>
      ['[part=base]', '[role=status]', '[role=alert]'].map((part) => one(element, part).lang);
    const german = await place(html`<div lang="de"></div>`);
    expect(langOf(german)).to.deep.equal(['de', 'de', 'de']);
    const czech = await place(html`<div lang="cs"></div>`);
    expect(langOf(czech)).to.deep.equal(['en', 'en', 'en']);
  });

  it('follow the language of the page', async () => {
    const element = await place(html`<div></div>`);
    document.documentElement.lang = 'es';
    await showing(element, CHOOSE.es);
    document.documentElement.lang = 'en';
    await showing(element, CHOOSE.en);
  });

  it('follow a lang attribute outside of the shadow root', async () => {
    const outer = document.createElement('div');
    outer.lang = 'de';
    const shadow = outer.attachShadow({ mode: 'open' });
    const middle = document.createElement('div');
    middle.attachShadow({ mode: 'open' });
    shadow.append(middle);
    const element = await place(html`<div>${outer}</div>`);
    middle.shadowRoot?.append(element);
    await showing(element, CHOOSE.de);
    middle.lang = 'fr';
    await showing(element, CHOOSE.fr);
    middle.removeAttribute('lang');
    outer.lang = 'en';
    await showing(element, CHOOSE.en);
  });

  it('follow the element to another place', async () => {
    const element = await place(html`<div lang="de"></div>`);
    const other = await fixture<HTMLElement>(html`<div lang="fr"></div>`);
    other.append(element);
    await showing(element, CHOOSE.fr);
  });

  for (const [tag, text] of [
    ['de-AT', CHOOSE.de],
    ['DE', CHOOSE.de],
    ['pt', 'Escolher arquivos'],
    ['pt-PT', 'Escolher arquivos'],
    ['zh', '选择文件'],
    ['zh-Hans-SG', '选择文件'],
    ['iw', 'בחירת קבצים'],
  ] as const)
    it(`use the nearest locale for ${tag}`, async () => {
      const element = await place(html`<div lang="fr"></div>`);
      await showing(element, CHOOSE.fr);
      element.lang = tag;
      await showing(element, text);
    });

  for (const tag of ['zh-TW', 'en-GB', 'eo', 'x', ''])
    it(`stay English for lang="${tag}"`, async () => {
      const element = await place(html`<div lang="de"></div>`);
      await showing(element, CHOOSE.de);
      element.lang = tag;
      await showing(element, CHOOSE.en);
    });

  it('can be replaced one by one', async () => {
    const element = await place(html`<div lang="de"></div>`);
    element.messages = { dropFiles: 'Nur Fotos' };
    await element.updateComplete;
    expect(one(element, '[part~=drop-zone]').textContent).to.contain('Nur Fotos');
    expect(titleOf(element)).to.equal(CHOOSE.de);
    element.lang = 'fr';
    await showing(element, CHOOSE.fr);
    expect(one(element, '[part~=drop-zone]').textContent).to.contain('Nur Fotos');
  });

  it('follow the language after the page removed its own texts', async () => {
    const element = await place(html`<div lang="de"></div>`);
    Object.assign(element, { messages: undefined });
    await element.updateComplete;
    element.lang = 'fr';
    await showing(element, CHOOSE.fr);
  });

  it('format sizes for the language', async () => {
    const element = await place(html`<div lang="de"></div>`);
    element.maxFileSize = '1500kB';
    await element.updateComplete;
    expect(one(element, '[part~=drop-zone]').textContent).to.match(/Bis zu 1,5\sMB pro Datei/);
  });

  it('are used by the sign-in form too', async () => {
    const outer = await fixture<HTMLElement>(html`<div lang="de"></div>`);
    const form = document.createElement('secure-uploader-login');
    form.baseUrl = 'https://files.example';
    outer.append(form);
    const label = (): string => form.querySelector('h2')?.textContent?.trim() ?? '';
    await shown(() => label() === 'Anmelden');
    form.lang = 'fr';
    await shown(() => label() === 'Se connecter');
  });

  it('also come from a module that another script of the page loaded', () => {
    expect((globalThis as Record<symbol, unknown>)[Symbol.for('secure-uploader.languages')]).to.equal(
      languages,
    );
  });

  it('keep no element that was removed', async () => {
    const element = await place(html`<div lang="de"></div>`);
    expect(languages.hosts.has(element)).to.equal(true);
    element.remove();
    expect(languages.hosts.has(element)).to.equal(false);
  });
});

const PSEUDO: LoginMessages = rewritten(ENGLISH_LOGIN, marked);
/** Formats without words, so that each word of the interface is a text. */
const FORMAT = {
  size: () => '1',
  speed: () => '2',
  duration: () => '3',
  anyOf: () => '⟦types⟧',
  percent: () => '4%',
  comma: ', ',
};
/** Names of files and folders, limits, and texts of the page or the service. */
const DATA = '[part~=file-name], [part=file-icon], [part=rejection], option, style, .silent:empty';
const WORDS_OF_DATA =
  /\b(?:[Ii]mage|PDF|text\/plain|2026(?:\/spring)?|Not you|PIN|Secret|Token card)\b|\.\w+\b/g;
const SPOKEN_ATTRIBUTES = [
  'aria-label',
  'aria-description',
  'aria-roledescription',
  'aria-valuetext',
  'title',
  'placeholder',
  'alt',
];

/** Returns the letters of `text` that are in no message. A row shows only the first sentence of some messages. */
function unnamed(text: string): string {
  let rest = text.replace(/⟦[^⟦⟧]*$/, '');
  for (let next = rest.replace(/⟦[^⟦⟧]*⟧/g, ''); next !== rest; next = rest.replace(/⟦[^⟦⟧]*⟧/g, ''))
    rest = next;
  return rest
    .replace(WORDS_OF_DATA, '')
    .replace(/\P{L}+/gu, ' ')
    .trim();
}

/** Returns each text of `root` that is not from the messages. */
function hardCoded(root: ParentNode): string[] {
  const found: string[] = [];
  for (const element of root.querySelectorAll('*')) {
    if (element.closest(DATA)) continue;
    const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    const texts = [own.map((node) => node.textContent).join('')];
    for (const name of SPOKEN_ATTRIBUTES) texts.push(element.getAttribute(name) ?? '');
    found.push(...texts.filter((text) => unnamed(text) !== ''));
  }
  return found;
}

describe('no text is hard-coded', () => {
  it('in any state of the uploader', async () => {
    const found: string[] = [];
    let textCount = 0;
    for (const [name, state] of Object.entries(VIEW_STATES)) {
      const ids = state.more?.undo?.ids ?? new Set();
      const undo = { ids, text: PSEUDO.undoableCancel(3) };
      const more = { ...state.more, undo, messages: PSEUDO, format: FORMAT };
      const element = await show({ ...state, more });
      found.push(...hardCoded(element.renderRoot).map((text) => `${name}: ${text.trim()}`));
      textCount += element.renderRoot.querySelector('.base')?.textContent?.split('⟦').length ?? 0;
      element.remove();
    }
    expect(found).to.deep.equal([]);
    expect(textCount).to.be.greaterThan(500);
  });

  it('in any announcement', async () => {
    const lost = file('lost', 'paused', 100, 0, { pauseReason: 'needs-file', warning: 'store-full' });
    const state = snapshot([file('a', 'uploading', 100), lost], {
      auth: { state: 'prompt', mode: 'popup', required: true },
    });
    const totals = { ...state.totals, remainingMs: 21_000 };
    const ended = { doneCount: 1, failedCount: 1, canceledCount: 1, waitingCount: 0 };
    const changes: readonly (readonly [Change['name'], object])[] = [
      ['upload-started', { id: 'a' }],
      ['auth-changed', { state: 'prompt' }],
      ['auth-failed', { code: 'popup-blocked' }],
      ['upload-failed', { id: 'a', name: '1', code: 'network' }],
      ['upload-paused', { id: lost.id, reason: 'needs-file' }],
      ['file-rejected', { name: '2', code: 'file-too-large', limit: 1000 }],
      ['file-rejected', { name: '3', code: 'too-many-files', limit: 2 }],
      ['uploads-finished', ended],
    ];
    for (const [name, detail] of changes) {
      const said: string[] = [];
      const host = {
        snapshot: { ...state, totals },
        texts: PSEUDO,
        format: FORMAT,
        requestUpdate: () =>
          said.push(...Object.values(announcer.spoken).map((node) => node?.textContent ?? '')),
      };
      const announcer = new Announcer(host, { sumsEveryMs: 5, gatherMs: 1 });
      announcer.onChange({ name, detail } as Change);
      await shown(() => said.length > 0);
      announcer.clear();
      expect(said.filter((text) => unnamed(text) !== '')).to.deep.equal([]);
    }
    expect(unnamed(PSEUDO.announceUndo(PSEUDO.undoableCancel(2)))).to.equal('');
    for (const name of ['Paused', 'Resumed', 'Retrying', 'Restored'] as const)
      expect(unnamed(PSEUDO[`announce${name}`](2))).to.equal('');
  });

  it('in any style', () => {
    const texts = [...styles, loginStyles].join().match(/(?<!-)content: *['"].*/g) ?? [];
    expect(texts.filter((text) => /\p{L}/u.test(text.replace('content:', '')))).to.deep.equal([]);
    expect(texts).to.have.length.greaterThan(1);
  });

  it('in any step of the sign-in form', () => {
    const found: string[] = [];
    for (const [name, [step]] of Object.entries(STEPS)) {
      const root = document.createElement('div');
      const view = viewOf({ ...step, messages: PSEUDO }, () => () => undefined);
      render(loginStep(view), root);
      found.push(...hardCoded(root).map((text) => `${name}: ${text.trim()}`));
      expect(root.textContent, name).to.contain('⟦');
    }
    expect(found).to.deep.equal([]);
  });
});
