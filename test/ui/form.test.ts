// The element in a form: label, value, validity, reset and fieldset.

import { expect } from '@open-wc/testing';
import type { CompletedDetail } from '../../src/index.ts';
import { skipTime } from '../support/clock.ts';
import { deferred, until } from '../support/collect.ts';
import { fileReaches, replace } from '../support/world.ts';
import { inForm, namesOf, upload, valuesOf } from './form-stage.ts';
import { all, button, dragEvent, one, shown, textFile, transferOf } from './support.ts';

const MISSING = 'Upload a file.';
const UNFINISHED = "Some files aren't uploaded yet. Finish uploading them, or remove them from the list.";

describe('in a form, the element', () => {
  let resetClock = (): void => undefined;

  afterEach(() => resetClock());

  it('is one of the controls of its form', async () => {
    const { element, form } = await inForm({ name: 'documents' });
    expect(element.form).to.equal(form);
    expect([...form.elements]).to.include(element);
    expect(form.elements.namedItem('documents')).to.equal(element);
  });

  it('has a JSON value for each uploaded file', async () => {
    const stage = await inForm({ name: 'documents' });
    const completed: CompletedDetail[] = [];
    stage.element.addEventListener('upload-completed', ({ detail }) => completed.push(detail));
    await upload(stage, 'a.txt');
    await upload(stage, 'b.txt');
    const expected = completed.map(({ name, sizeBytes, sessionId, chunks }) =>
      JSON.stringify({ name, sizeBytes, sessionId, hashes: chunks.map(({ hash }) => hash) }),
    );
    expect(expected).to.have.length(2);
    expect(valuesOf(stage.form)).to.deep.equal(expected);
    expect([...new FormData(stage.form).keys()]).to.deep.equal(['documents', 'documents']);
  });

  it('has its value when the events about the last file are dispatched', async () => {
    const stage = await inForm({ name: 'documents' });
    const seen: unknown[] = [];
    for (const name of ['upload-completed', 'uploads-finished'])
      stage.element.addEventListener(name, () =>
        seen.push(valuesOf(stage.form).length, stage.form.checkValidity()),
      );
    await upload(stage, 'a.txt');
    await until(() => seen.length === 4);
    expect(seen).to.deep.equal([1, true, 1, true]);
  });

  it('has no value without a name', async () => {
    const stage = await inForm({});
    await upload(stage, 'a.txt');
    await stage.element.updateComplete;
    expect(valuesOf(stage.form)).to.deep.equal([]);
    stage.element.name = 'later';
    await stage.element.updateComplete;
    expect(namesOf(stage.form)).to.deep.equal(['a.txt']);
  });

  it('submits what `formValue` returns', async () => {
    const stage = await inForm({
      name: 'documents',
      formValue: ({ name, chunks }) => `${name}:${chunks.length}`,
    });
    await upload(stage, 'a.txt');
    expect(valuesOf(stage.form)).to.deep.equal(['a.txt:1']);
  });

  it('loses the value of a file that is removed or cleared from the list', async () => {
    const stage = await inForm({ name: 'documents' });
    const id = await upload(stage, 'a.txt');
    await upload(stage, 'b.txt');
    await stage.element.remove(id);
    await shown(() => valuesOf(stage.form).length === 1);
    expect(namesOf(stage.form)).to.deep.equal(['b.txt']);
    await stage.element.clear();
    await shown(() => valuesOf(stage.form).length === 0);
  });

  it('is valid by default, also with running uploads', async () => {
    const stage = await inForm({}, []);
    expect(stage.element.checkValidity()).to.equal(true);
    await stage.element.addFiles(textFile('a.txt'));
    await stage.element.updateComplete;
    expect(stage.form.checkValidity()).to.equal(true);
  });

  for (const settings of [{ required: true }, { minFiles: 1 }] as const)
    it(`with ${Object.keys(settings)}, is invalid until a file is uploaded`, async () => {
      const stage = await inForm({ name: 'documents', ...settings });
      expect(stage.form.checkValidity()).to.equal(false);
      expect(stage.element.validity.valueMissing).to.equal(true);
      expect(stage.element.validationMessage).to.equal(MISSING);
      await upload(stage, 'a.txt');
      await stage.element.updateComplete;
      expect(stage.form.checkValidity()).to.equal(true);
      expect(stage.element.validationMessage).to.equal('');
    });

  it('counts files for min-files, and says in its language how many are needed', async () => {
    const stage = await inForm({ name: 'documents', minFiles: '2' });
    expect(stage.element.validationMessage).to.equal('Upload at least 2 files.');
    stage.element.messages = { atLeast: (count) => `Es fehlen ${count}` };
    await stage.element.updateComplete;
    expect(stage.element.validationMessage).to.equal('Es fehlen 2');
    await upload(stage, 'a.txt');
    await stage.element.updateComplete;
    expect(stage.form.checkValidity()).to.equal(false);
    await upload(stage, 'b.txt');
    await stage.element.updateComplete;
    expect(stage.form.checkValidity()).to.equal(true);
  });

  it('with a name, is invalid while files are open, so that a form does not lose them', async () => {
    const stage = await inForm({ name: 'documents' }, []);
    await stage.element.addFiles(textFile('a.txt'));
    await shown(() => !stage.form.checkValidity());
    expect(stage.element.validity.customError).to.equal(true);
    expect(stage.element.validationMessage).to.equal(UNFINISHED);
    await stage.element.remove(stage.element.snapshot.files[0]?.id as string);
    await shown(() => stage.form.checkValidity());
  });

  it('with a name, is invalid while chosen files are being read', async () => {
    const stage = await inForm({ name: 'documents' });
    const read = deferred<File>();
    replace(globalThis, 'showOpenFilePicker' as never, async () => [
      { kind: 'file', name: 'a.txt', getFile: () => read.promise },
    ]);
    const isAdded = stage.element.browse();
    await shown(() => stage.element.validationMessage === UNFINISHED);
    read.resolve(textFile('a.txt'));
    await isAdded;
    await shown(() => stage.element.validationMessage === '');
    expect(namesOf(stage.form)).to.deep.equal(['a.txt']);
  });

  it('is as the user sees it while a cancel or a removal can be undone', async () => {
    const stage = await inForm({ name: 'documents' });
    await upload(stage, 'a.txt');
    stage.service.hold('open');
    await stage.element.addFiles(textFile('b.txt'));
    await shown(() => !stage.form.checkValidity());
    button(stage.element, 'Cancel: b.txt').click();
    await shown(() => stage.form.checkValidity());
    // A second command within 500 ms counts as a double click.
    resetClock = skipTime(1000);
    button(stage.element, 'Remove from list: a.txt').click();
    await shown(() => valuesOf(stage.form).length === 0);
    button(stage.element, 'Undo').click();
    await shown(() => valuesOf(stage.form).length === 1);
  });

  it('shows its message at the drop zone, and moves the focus there', async () => {
    const stage = await inForm({ name: 'documents', required: true });
    let invalidCount = 0;
    stage.element.addEventListener('invalid', () => invalidCount++);
    expect(stage.form.reportValidity()).to.equal(false);
    expect(invalidCount).to.equal(1);
    expect(stage.element.shadowRoot?.activeElement).to.equal(one(stage.element, '.base'));
  });

  it('removes its files and their values on reset, and cancels running uploads', async () => {
    const stage = await inForm({ name: 'documents', required: true, accept: '.txt' });
    await upload(stage, 'a.txt');
    await stage.element.addFiles([textFile('b.zip', 'application/zip')]);
    expect(stage.element.snapshot.rejections).to.have.length(1);
    stage.form.reset();
    await until(() => stage.element.snapshot.files.length === 0);
    await shown(() => valuesOf(stage.form).length === 0);
    await until(() => stage.element.snapshot.rejections.length === 0);
    expect(stage.element.validity.valueMissing).to.equal(true);
  });

  it('accepts no files in a disabled fieldset, and is neither submitted nor validated then', async () => {
    const stage = await inForm({ name: 'documents', required: true });
    const { element, form, asked } = stage;
    const fieldset = form.querySelector('fieldset') as HTMLFieldSetElement;
    fieldset.disabled = true;
    await element.updateComplete;
    expect(element.disabled, 'the own attribute').to.equal(false);
    expect(button(element, 'Choose files').disabled).to.equal(true);
    expect(element.willValidate).to.equal(false);
    expect(form.checkValidity()).to.equal(true);
    await element.browse();
    expect(asked).to.deep.equal([]);
    one(element, '.zone').dispatchEvent(dragEvent('drop', transferOf(textFile('a.txt'))));
    await element.updateComplete;
    expect(element.snapshot.files).to.deep.equal([]);
    element.disabled = true;
    await element.updateComplete;
    element.disabled = false;
    await element.updateComplete;
    expect(button(element, 'Choose files').disabled, 'by the fieldset only').to.equal(true);
    fieldset.disabled = false;
    await element.updateComplete;
    expect(button(element, 'Choose files').disabled).to.equal(false);
    expect(element.willValidate).to.equal(true);
    await upload(stage, 'a.txt');
    fieldset.disabled = true;
    expect(valuesOf(form)).to.deep.equal([]);
  });

  it('continues running uploads in a disabled fieldset, whose buttons still work', async () => {
    const stage = await inForm({ name: 'documents' }, ['open', 'presign', 'commit']);
    await stage.element.addFiles(textFile('a.txt'));
    await fileReaches(stage, 'a.txt', 'uploading');
    (stage.form.querySelector('fieldset') as HTMLFieldSetElement).disabled = true;
    await stage.element.updateComplete;
    button(stage.element, 'Pause: a.txt').click();
    await fileReaches(stage, 'a.txt', 'paused');
  });

  it('has the name of its label, which opens the picker', async () => {
    const { element, form, asked } = await inForm({ name: 'documents' });
    element.id = 'documents';
    const label = document.createElement('label');
    label.htmlFor = 'documents';
    label.textContent = ' Your documents ';
    form.prepend(label);
    element.requestUpdate();
    await element.updateComplete;
    expect(one(element, '.base').getAttribute('aria-label')).to.equal('Your documents');
    label.click();
    await until(() => asked.length > 0);
    expect(asked).to.deep.equal(['picker: files']);
  });

  it('opens no picker on a click inside of it that is not on a button', async () => {
    const stage = await inForm({ name: 'documents' });
    await upload(stage, 'a.txt');
    await shown(() => all(stage.element, '.row.done')[0]);
    one(stage.element, '.row').click();
    await stage.element.updateComplete;
    expect(stage.asked).to.deep.equal([]);
  });
});
