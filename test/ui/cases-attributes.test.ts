// Attributes and properties as people and frameworks write them: upper case, white space, empty values, null, and text.

import { expect } from '@open-wc/testing';
import { resetMouse, sendKeys } from '@web/test-runner-commands';
import { attributeOf, createSettings, PROTECTING } from '../../src/core/config.ts';
import { UploaderError } from '../../src/core/errors.ts';
import { ENGLISH } from '../../src/index.ts';
import { readSettings } from '../../src/ui/read-settings.ts';
import '../../src/define.ts';
import type { SecureUploader } from '../../src/ui/secure-uploader.ts';
import { until } from '../support/collect.ts';
import { captureWarnings } from '../support/console.ts';
import { SETTING_CASES, SETTING_NAMES } from '../support/setting-cases.ts';
import { replace, world } from '../support/world.ts';
import { click } from './accessible.ts';
import { removeStages, stage } from './login-stage.ts';
import { all, button, one, shown } from './support.ts';

const added: HTMLElement[] = [];
afterEach(async () => {
  for (const each of added.splice(0)) each.remove();
  await resetMouse();
});

/** Adds HTML to the page, and returns its first uploader when that is rendered. */
async function write(html: string): Promise<SecureUploader> {
  const place = document.createElement('div');
  place.innerHTML = html;
  document.body.append(place);
  added.push(place);
  const element = place.querySelector('secure-uploader') as SecureUploader;
  await element.updateComplete;
  return element;
}

const SWITCHES = SETTING_NAMES.filter((name) => SETTING_CASES[name].initial === false).map(attributeOf);
const camel = (name: string): string => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());

/** How frameworks unset a property that they have set. */
const FRAMEWORKS: Readonly<Record<string, (before: unknown) => unknown>> = {
  Preact: () => '',
  Vue: (before) => ({ string: '', number: 0, boolean: false })[typeof before as string],
};

/** Returns the settings without those of which an empty text is a value. */
function withoutTexts(element: SecureUploader): object {
  const { parentId, clientId, authScheme, ...others } = createSettings(readSettings(element));
  return others;
}

const BASE = 'base-url="https://files.test" parent-id="a"';

describe('an attribute that is written as "false"', () => {
  it('in upper case or with spaces is on, and warns once for all elements of the page', () =>
    captureWarnings(async (warnings) => {
      const html = `<SECURE-UPLOADER ${BASE} WAKE-LOCK="FALSE" Include-Hidden=" false ">`;
      const element = await write(html);
      await write(html);
      expect([element.wakeLock, element.includeHidden]).to.deep.equal([true, true]);
      const named = (name: string): number =>
        warnings.filter((text) => text.includes(`${name}="false"`)).length;
      expect(['wake-lock', 'include-hidden'].map(named)).to.deep.equal([1, 1]);
    }));

  it('by a framework, after the element was added, warns too', () =>
    captureWarnings(async (warnings) => {
      const element = await write(`<secure-uploader ${BASE}>`);
      expect(warnings).to.deep.equal([]);
      element.setAttribute('persist-storage', String(false));
      await element.updateComplete;
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.contain('persist-storage="false"');
      element.setAttribute('persist-storage', 'false');
      element.toggleAttribute('disabled');
      await element.updateComplete;
      expect(warnings).to.have.length(1);
    }));

  it('disables the element for the mouse and the keyboard, as in HTML', async () => {
    let openedCount = 0;
    replace(HTMLInputElement.prototype, 'click', () => (openedCount += 1));
    replace(globalThis, 'showOpenFilePicker' as never, undefined);
    const element = await write(
      `<secure-uploader ${BASE} disabled="false"></secure-uploader><button>after</button>`,
    );
    const zone = one(element, '[part~=drop-zone]');
    await click(zone);
    await click(button(element, ENGLISH.chooseFile));
    await sendKeys({ press: 'Tab' });
    await sendKeys({ press: 'Enter' });
    expect(openedCount).to.equal(0);
    element.removeAttribute('disabled');
    await element.updateComplete;
    await click(button(element, ENGLISH.chooseFile));
    expect(openedCount).to.equal(1);
  });

  it('requires a file when Enter is pressed in a field of the form', async () => {
    const element = await write(
      `<form><input name="title"><secure-uploader ${BASE} name="files" required="false"></secure-uploader><button>Send</button></form>`,
    );
    const events: string[] = [];
    for (const type of ['submit', 'invalid'])
      element.form?.addEventListener(
        type,
        (event) => {
          event.preventDefault();
          events.push(type);
        },
        true,
      );
    element.form?.querySelector('input')?.focus();
    await sendKeys({ press: 'Enter' });
    await until(() => events.length > 0);
    element.toggleAttribute('required', false);
    await element.updateComplete;
    await sendKeys({ press: 'Enter' });
    await until(() => events.length > 1);
    expect(events).to.deep.equal(['invalid', 'submit']);
  });

  it('never allows the form of a framed page, however it is written', async () => {
    for (const text of ['FALSE', ' false ', 'false\n']) {
      const element = await write(`<secure-uploader ${BASE} allow-framed-login="${text}">`);
      expect(element.allowFramedLogin, JSON.stringify(text)).to.equal(false);
    }
    const element = await write(`<secure-uploader ${BASE} allow-framed-login="">`);
    expect(element.allowFramedLogin).to.equal(true);
  });

  it('is off for each setting that protects users, without a warning', () =>
    captureWarnings(async (warnings) => {
      for (const name of SWITCHES)
        for (const [text, isOn] of [
          ['', true],
          ['true', true],
          [' TRUE ', true],
          [name, true],
          ['false', false],
          [' False\n', false],
        ] as const) {
          const element = await write(`<secure-uploader ${BASE} ${name}="${text}">`);
          expect(Reflect.get(element, camel(name)), `${name}="${text}"`).to.equal(isOn);
          element.removeAttribute(name);
          expect(Reflect.get(element, camel(name)), name).to.equal(false);
          await element.updateComplete;
        }
      expect(warnings.filter((text) => SWITCHES.some((name) => text.includes(`${name}="`)))).to.deep.equal(
        [],
      );
    }));

  it('neither on nor off allows nothing more, and is an error if on protects more', () =>
    captureWarnings(async (warnings) => {
      replace(console, 'error', () => undefined);
      for (const text of ['flase', 'no', '0', 'off'])
        for (const name of SWITCHES) {
          const element = await write(`<secure-uploader ${BASE} ${name}="${text}">`);
          const isError = ['manual', 'no-resume', 'strip-location'].includes(name);
          expect(all(element, '[part=error]').length, `${name}="${text}"`).to.equal(isError ? 1 : 0);
          expect(Reflect.get(element, camel(name)), `${name}="${text}"`).to.equal(isError ? text : false);
          const { length } = warnings.filter((line) => line.includes(`${name}="${text}" is off`));
          expect(length, `${name}="${text}"`).to.equal(isError ? 0 : 1);
        }
    }));

  it('never allows the form of a framed page if it becomes a property', async () => {
    replace(globalThis, 'parent' as never, { location: { origin: 'https://other.test' } });
    try {
      for (const [value, isAllowed] of [
        ['false', false],
        ['FALSE', false],
        [true, true],
      ] as const) {
        const { element } = await stage({ allowFramedLogin: value as boolean });
        expect(element.querySelector('form') !== null, `${value}`).to.equal(isAllowed);
      }
    } finally {
      removeStages();
    }
  });
});

describe('a property', () => {
  it('that a framework sets to null or undefined is unset, whatever its type', async () => {
    const unset = createSettings(readSettings(await write(`<secure-uploader ${BASE}>`)));
    const { elementProperties } = customElements.get('secure-uploader') as typeof SecureUploader;
    for (const value of [null, undefined]) {
      const element = document.createElement('secure-uploader') as SecureUploader;
      for (const name of elementProperties.keys()) Object.assign(element, { [name]: value });
      Object.assign(element, { baseUrl: 'https://files.test', parentId: 'a', multiple: value });
      document.body.append(element);
      added.push(element);
      await element.updateComplete;
      expect(createSettings(readSettings(element))).to.deep.equal(unset);
      expect(one(element, '[part=base]').getAttribute('aria-label')).to.equal('File upload');
      await element.addFiles(new File(['a'], 'a.txt'));
      await shown(() => all(element, '.row').length === 1);
    }
  });

  for (const [framework, unsetOf] of Object.entries(FRAMEWORKS))
    it(`that ${framework} unsets has its default, or cannot be read`, async () => {
      replace(console, 'error', () => undefined);
      replace(console, 'warn', () => undefined);
      const element = await write(`<secure-uploader ${BASE}>`);
      const others = withoutTexts(element);
      const { elementProperties } = customElements.get('secure-uploader') as typeof SecureUploader;
      for (const [name, { attribute }] of elementProperties)
        for (const before of attribute === false ? [{}] : ['3', 3, true]) {
          const written = unsetOf(typeof Reflect.get(element, name) === 'boolean' ? true : before);
          const { [name as 'auth']: was } = element;
          Object.assign(element, { [name]: written });
          const says = `${String(name)} after ${JSON.stringify(before)}`;
          const mayFail =
            typeof was !== 'boolean' &&
            attribute !== false &&
            (name === 'baseUrl' || (PROTECTING as readonly PropertyKey[]).includes(name));
          try {
            const read = withoutTexts(element);
            expect(read, says).to.deep.equal(others);
          } catch (error) {
            if (!mayFail || !(error instanceof UploaderError)) throw error;
            expect(error.code, says).to.equal('bad-config');
          }
          // Nothing fails when the element renders.
          await element.updateComplete;
          Object.assign(element, { [name]: was });
          await element.updateComplete;
        }
    });

  it('that is text, as from a template, means the same as its attribute', async () => {
    const uploadOrigins = 'https://files.example';
    const { element } = await world({
      element: true,
      service: 'reference',
      manual: true,
      uploadOrigins,
    });
    Object.assign(element, {
      maxFiles: ' 2 ',
      maxFileSize: ' 5 Kb ',
      accept: ' .TXT ,\n image/* ',
      uploadOrigins: `\n${uploadOrigins}/ `,
    });
    await captureWarnings(async (warnings) => {
      await element.updateComplete;
      const [small, large] = [1, 6000].map((size) => new File(['x'.repeat(size)], `${size}.txt`));
      await element.addFiles([small as File, large as File, new File(['x'], 'a.pdf')]);
      expect(warnings).to.deep.equal([]);
    });
    expect(element.snapshot.files.map(({ name }) => name)).to.deep.equal(['1.txt']);
    expect(element.snapshot.rejections.map(({ code }) => code)).to.have.members([
      'file-too-large',
      'file-type-refused',
    ]);
  });
});

describe('a word', () => {
  it('in upper case or with spaces is the same word', async () =>
    captureWarnings(async (warnings) => {
      const element = await write(
        `<secure-uploader ${BASE} auth=" None " on-conflict="RENAME" hash="BLAKE3" silent="Off">`,
      );
      const { auth, onConflict, hash, silent } = createSettings(readSettings(element));
      expect([auth, onConflict, hash, silent]).to.deep.equal(['none', 'rename', 'blake3', 'off']);
      expect(warnings).to.deep.equal([]);
    }));

  it('of the look is the same word in upper case', async () => {
    const heightOf = async (layout: string): Promise<number> =>
      one(await write(`<secure-uploader ${BASE} layout="${layout}">`), '[part~=drop-zone]').offsetHeight;
    for (const layout of ['bar', 'button'])
      expect(await heightOf(layout.toUpperCase()), layout).to.equal(await heightOf(layout));
    expect(await heightOf('bar')).to.be.lessThan(await heightOf('area'));
  });
});
