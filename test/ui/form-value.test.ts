// A file for which the page's `formValue` returns no value: the form is not sent without it.

import { expect } from '@open-wc/testing';
import type { SecureUploader } from '../../src/index.ts';
import { fileReaches, replace } from '../support/world.ts';
import { type FormSettings, type FormStage, inForm, upload, valuesOf } from './form-stage.ts';
import { button, shown, textFile } from './support.ts';

type FormValue = NonNullable<SecureUploader['formValue']>;

const messageFor = (name: string): string =>
  `${name} can't be sent with this form. Remove it from the list, then add it again.`;

interface ValueStage extends FormStage {
  readonly send: HTMLButtonElement;
  /** What the page's `formValue` threw, and other errors, as the console shows them. */
  readonly errors: string[];
  /** The values of each submission. */
  readonly submissions: unknown[][];
}

/** Creates an element in a form with a button. */
async function withButton(settings: FormSettings, ...[answers]: [] | [Parameters<typeof inForm>[1]]) {
  const errors: string[] = [];
  replace(globalThis, 'reportError', (error: unknown) => errors.push(String(error)));
  const stage = await inForm({ name: 'documents', ...settings }, answers);
  const send = document.createElement('button');
  const submissions: unknown[][] = [];
  stage.form.append(send);
  stage.form.addEventListener('submit', (event) => {
    event.preventDefault();
    submissions.push(valuesOf(stage.form));
  });
  return { ...stage, send, errors, submissions } satisfies ValueStage;
}

/** Returns a `formValue` that throws for the files with these names, while there are any. */
const failingFor =
  (...names: string[]): FormValue =>
  ({ name }) => {
    if (names.includes(name)) throw new Error(`no id of ${name}`);
    return name;
  };

async function render({ element }: FormStage, times = 3): Promise<void> {
  for (let left = times; left > 0; left--) {
    element.requestUpdate();
    await element.updateComplete;
  }
}

describe('a file without a form value', () => {
  it('makes the form invalid, and names the file; the error is on the console once', async () => {
    const stage = await withButton({ formValue: failingFor('b.txt') });
    for (const name of ['a.txt', 'b.txt', 'c.txt']) await upload(stage, name);
    await render(stage);
    expect(stage.element.validity.customError).to.equal(true);
    expect(stage.element.validationMessage).to.equal(messageFor('b.txt'));
    stage.send.click();
    expect(stage.submissions).to.deep.equal([]);
    expect(stage.errors).to.deep.equal(['Error: no id of b.txt']);
    expect(valuesOf(stage.form)).to.deep.equal(['a.txt', 'c.txt']);
  });

  it('is shown without characters that change the direction of its name', async () => {
    const stage = await withButton({ formValue: failingFor('a\u202etxt.exe') });
    await upload(stage, 'a\u202etxt.exe');
    expect(stage.element.validationMessage).to.equal(messageFor('atxt.exe'));
  });

  for (const [kind, value] of [
    ['a promise', Promise.resolve('a')],
    ['nothing', undefined],
    ['a number', 42],
    ['a blob', new Blob(['a'])],
  ] as const)
    it(`is one for which \`formValue\` returns ${kind}`, async () => {
      const stage = await withButton({ formValue: (() => value) as unknown as FormValue });
      await upload(stage, 'a.txt');
      await render(stage);
      expect(stage.element.validationMessage).to.equal(messageFor('a.txt'));
      expect(stage.errors).to.have.length(1);
      expect(stage.errors[0]).to.match(/^TypeError: formValue .* a string or a File/);
      expect(valuesOf(stage.form)).to.deep.equal([]);
    });

  it('is not one with an empty text, or with a file of another document', async () => {
    const frame = document.createElement('iframe');
    document.body.append(frame);
    const { File: OtherFile } = frame.contentWindow as unknown as typeof globalThis;
    const other = new OtherFile(['x'], 'other.txt');
    const stage = await withButton({ formValue: ({ name }) => (name === 'a.txt' ? '' : other) });
    for (const name of ['a.txt', 'b.txt']) await upload(stage, name);
    await render(stage);
    expect(stage.element.validationMessage).to.equal('');
    expect(valuesOf(stage.form)).to.have.length(2);
    frame.remove();
  });

  it('does not count for required and min-files', async () => {
    const stage = await withButton({ minFiles: 2, formValue: failingFor('b.txt') });
    await upload(stage, 'a.txt');
    const id = await upload(stage, 'b.txt');
    await stage.element.remove(id);
    await shown(() => stage.element.validity.valueMissing);
    expect(stage.element.validationMessage).to.equal('Upload at least 2 files.');
  });

  it('no longer matters after it was removed from the list', async () => {
    const stage = await withButton({ formValue: failingFor('b.txt') });
    await upload(stage, 'a.txt');
    await upload(stage, 'b.txt');
    await render(stage);
    button(stage.element, 'Remove from list: b.txt').click();
    await shown(() => stage.element.validity.valid);
    stage.send.click();
    expect(stage.submissions).to.deep.equal([['a.txt']]);
  });

  it('gets its value from another `formValue`, and an equal error is reported once', async () => {
    const stage = await withButton({ formValue: failingFor('a.txt') });
    await upload(stage, 'a.txt');
    stage.element.formValue = failingFor('a.txt');
    await render(stage);
    expect(stage.errors).to.deep.equal(['Error: no id of a.txt']);
    expect(stage.element.validity.customError).to.equal(true);
    stage.element.formValue = ({ name }) => `id of ${name}`;
    await render(stage);
    expect(stage.element.validity.valid).to.equal(true);
    expect(valuesOf(stage.form)).to.deep.equal(['id of a.txt']);
  });

  it('gets its value when a button of the form is pressed and `formValue` returns one then', async () => {
    const missing = ['a.txt'];
    const stage = await withButton({ formValue: (file) => failingFor(...missing)(file) });
    const outside = document.createElement('button');
    stage.form.id = 'form-of-values';
    outside.setAttribute('form', stage.form.id);
    stage.form.after(outside);
    await upload(stage, 'a.txt');
    await render(stage);
    outside.click();
    expect(stage.submissions).to.deep.equal([]);
    missing.pop();
    outside.click();
    expect(stage.submissions).to.deep.equal([['a.txt']]);
    expect(stage.errors).to.deep.equal(['Error: no id of a.txt']);
  });

  it('gets its value when a listener of the page submits the form', async () => {
    const missing = ['a.txt'];
    const stage = await withButton({ formValue: (file) => failingFor(...missing)(file) });
    stage.send.type = 'button';
    stage.send.append(document.createElement('span'));
    stage.send.addEventListener('click', () => stage.form.requestSubmit());
    await upload(stage, 'a.txt');
    await render(stage);
    missing.pop();
    stage.send.querySelector('span')?.click();
    expect(stage.submissions).to.deep.equal([['a.txt']]);
  });

  it('without a name of the field, blocks nothing and counts as uploaded', async () => {
    const stage = await withButton({ required: true, formValue: failingFor('a.txt') });
    stage.element.name = undefined;
    await upload(stage, 'a.txt');
    await render(stage);
    expect(stage.element.validity.valid).to.equal(true);
    stage.send.click();
    expect(stage.submissions).to.deep.equal([[]]);
    stage.element.name = 'documents';
    await render(stage);
    expect(stage.element.validationMessage).to.equal(messageFor('a.txt'));
  });

  it('with submit-when-done, stops the submission that waits, and says why', async () => {
    const missing = ['a.txt'];
    const stage = await withButton(
      { submitWhenDone: true, formValue: (file) => failingFor(...missing)(file) },
      ['open', 'presign', 'put'],
    );
    await stage.element.addFiles([textFile('a.txt'), textFile('b.txt')]);
    let invalidCount = 0;
    stage.element.addEventListener('invalid', () => invalidCount++);
    stage.send.click();
    stage.service.answerAll('commit');
    for (const name of ['a.txt', 'b.txt']) await fileReaches(stage, name, 'done');
    await shown(() => stage.element.validationMessage === messageFor('a.txt'));
    expect(invalidCount).to.be.greaterThan(0);
    expect(stage.submissions).to.deep.equal([]);
    missing.pop();
    stage.send.click();
    expect(stage.submissions).to.deep.equal([['a.txt', 'b.txt']]);
  });

  it('with submit-when-done and novalidate, is not left out either', async () => {
    const stage = await withButton({ submitWhenDone: true, formValue: failingFor('a.txt') });
    stage.form.noValidate = true;
    await upload(stage, 'a.txt');
    stage.send.click();
    expect(stage.submissions).to.deep.equal([]);
  });
});
