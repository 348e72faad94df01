// Each attribute sets the setting of the same name.

import { expect } from '@open-wc/testing';
import '../../src/define.ts';
import { attributeOf, createSettings } from '../../src/core/config.ts';
import type { Settings } from '../../src/core/settings-table.ts';
import { readSettings } from '../../src/ui/read-settings.ts';
import type { SecureUploader } from '../../src/ui/secure-uploader.ts';
import { captureWarnings } from '../support/console.ts';
import { SETTING_CASES, SETTING_NAMES, settingValues } from '../support/setting-cases.ts';

/** The settings that have an attribute: all but functions and objects. */
const WITH_ATTRIBUTE = SETTING_NAMES.filter((name) =>
  ['string', 'number', 'boolean'].includes(typeof SETTING_CASES[name].values[0]),
);

const SETTING_ATTRIBUTES = WITH_ATTRIBUTE.map(attributeOf);

/** Attributes that are not settings. */
const OWN = [
  'name',
  'required',
  'submit-when-done',
  'capture',
  'directory',
  'include-hidden',
  'disabled',
  'density',
  'layout',
  'chunk-events',
  'no-leave-warning',
  'wake-lock',
  'thumbnails',
  'persist-storage',
];

const settingsOf = (attributes: Readonly<Record<string, string>>): Settings => {
  const element = document.createElement('secure-uploader') as SecureUploader;
  element.setAttribute('base-url', 'https://files.test');
  for (const [name, text] of Object.entries(attributes)) element.setAttribute(name, text);
  return createSettings(readSettings(element));
};

describe('an attribute', () => {
  it('is that of a setting, or in the list of this test', () => {
    const { observedAttributes } = customElements.get('secure-uploader') as typeof SecureUploader;
    expect([...SETTING_ATTRIBUTES, ...OWN]).to.have.members(observedAttributes);
  });

  for (const name of WITH_ATTRIBUTE)
    it(`${attributeOf(name)} becomes a setting`, () => {
      const unset = settingsOf({})[name];
      for (const { given, result } of settingValues().filter((value) => value.name === name)) {
        const text = given === true ? '' : String(given);
        expect(settingsOf({ [attributeOf(name)]: text })[name], text).to.deep.equal(result);
        expect(unset, 'is not so without it').not.to.deep.equal(result);
      }
    });

  const connect = async (...names: string[]): Promise<void> => {
    const element = document.createElement('secure-uploader');
    for (const name of names) element.setAttribute(name, '');
    document.body.append(element);
    await element.updateComplete;
    element.remove();
  };

  it('with a typo warns once, with the right name', () =>
    captureWarnings(async (warnings) => {
      await connect('baseurl', 'parent_id', 'chunksize', 'max--files');
      await connect('baseurl');
      expect(warnings).to.deep.equal([
        'secure-uploader: The attribute baseurl does not exist. Did you mean base-url?',
        'secure-uploader: The attribute parent_id does not exist. Did you mean parent-id?',
        'secure-uploader: The attribute chunksize does not exist. Did you mean chunk-size?',
        'secure-uploader: The attribute max--files does not exist. Did you mean max-files?',
      ]);
    }));

  it('with another ending, or of a property, warns with the nearest name', () =>
    captureWarnings(async (warnings) => {
      await connect('upload-origin', 'commit-paht', 'gettoken', 'parent-for', 'engine-options');
      expect(warnings).to.deep.equal([
        'secure-uploader: The attribute upload-origin does not exist. Did you mean upload-origins?',
        'secure-uploader: The attribute commit-paht does not exist. Did you mean commit-path?',
        'secure-uploader: The attribute gettoken does not exist. Did you mean the property getToken?',
        'secure-uploader: The attribute parent-for does not exist. Did you mean the property parentFor?',
        'secure-uploader: The attribute engine-options does not exist. Did you mean the property engineOptions?',
      ]);
    }));

  it('of the element, or of any other library, causes no warning', () =>
    captureWarnings(async (warnings) => {
      await connect(...SETTING_ATTRIBUTES, ...OWN, 'id', 'class', 'data-parent-id', 'title');
      await connect('hx-swap', 'v-cloak', 'x-data', 'ng-version', 'aria-label', 'client:load');
      await connect('on-click', 'no-print', 'layout-align', 'hash-x', 'max');
      expect(warnings).to.deep.equal([]);
    }));

  /** Resolves with the file rules that the drop zone shows. */
  const hintOf = async (attributes: Readonly<Record<string, string>>): Promise<string> => {
    const element = document.createElement('secure-uploader') as SecureUploader;
    for (const [name, text] of Object.entries({ multiple: '', ...attributes }))
      element.setAttribute(name, text);
    document.body.append(element);
    await element.updateComplete;
    const hint = element.renderRoot.querySelector('.hint')?.textContent ?? '';
    element.remove();
    return hint;
  };

  for (const base of [{}, { 'base-url': 'https://files.test' }] as Readonly<Record<string, string>>[]) {
    const when = base['base-url'] ? 'with an engine' : 'before there is a base URL';
    for (const [maxFiles, hint] of [
      ['3', 'At most 3 files'],
      ...['-3', '2.5', '0', 'auto', 'many'].map((text) => [text, '']),
    ] as const)
      it(`max-files="${maxFiles}" is shown as the engine reads it, ${when}`, () =>
        captureWarnings(async () => expect(await hintOf({ ...base, 'max-files': maxFiles })).to.equal(hint)));

    it(`all rules are shown, ${when}`, async () => {
      const rules = { accept: 'image/*,.pdf', 'max-file-size': '500MB', 'max-files': '20' };
      expect(await hintOf({ ...base, ...rules })).to.equal(
        'Images or PDF · up to 500 MB per file · at most 20 files',
      );
    });
  }
});
