// A form with `submit-when-done`: submitting it starts the uploads, waits for them, and then submits the form.

import { expect, fixture, html } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import { deferred, settled, until } from '../support/collect.ts';
import { fileReaches, replace, type World, type WorldSettings, world } from '../support/world.ts';
import { button, one, shown, textFile } from './support.ts';

const LATER = 'The form will be sent when all files are uploaded.';
const UNFINISHED = "Some files aren't uploaded yet. Finish uploading them, or remove them from the list.";

interface FormSettings extends WorldSettings {
  readonly name?: string;
  readonly required?: boolean;
  readonly submitWhenDone?: boolean;
}

interface FormStage extends World<true> {
  readonly form: HTMLFormElement;
  readonly send: HTMLButtonElement;
  /** For each submission: the button, and the number of uploaded files. */
  readonly submissions: string[];
}

/** Creates an element in a form whose commits wait until the test releases them. */
async function inForm(settings: FormSettings = {}): Promise<FormStage> {
  const form = await fixture<HTMLFormElement>(
    html`<form><input name="title" value="Claim" required /><button name="send" value="now">Send</button></form>`,
  );
  const stage = await world({
    element: true,
    answers: ['open', 'presign', 'put'],
    name: 'documents',
    submitWhenDone: true,
    ...settings,
  });
  const send = form.querySelector('button') as HTMLButtonElement;
  send.before(stage.element);
  const submissions: string[] = [];
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const data = new FormData(form, event.submitter);
    submissions.push(`${data.get('send')} ${data.getAll('documents').length}`);
  });
  await stage.element.updateComplete;
  return { ...stage, form, send, submissions };
}

/** Adds files, and waits until their commits are requested. */
async function begin({ element }: FormStage, ...names: string[]): Promise<void> {
  await element.addFiles((names.length > 0 ? names : ['a.txt']).map((name) => textFile(name)));
  await until(() => element.snapshot.files.every(({ phase }) => phase === 'committing'));
}

/** Submits the form as a user does, and waits for the next rendering. */
async function press({ send, element }: FormStage): Promise<void> {
  send.click();
  await element.updateComplete;
}

const finish = ({ service }: FormStage): void => void service.answerAll('commit');

/** Creates a form that waits for a file. */
async function waiting(settings: FormSettings = {}): Promise<FormStage> {
  const stage = await inForm(settings);
  await begin(stage);
  await press(stage);
  return stage;
}

/** Completes the uploads, and waits until the form is submitted. */
async function finished(stage: FormStage): Promise<void> {
  finish(stage);
  await until(() => stage.submissions.length > 0);
}

/** What makes a file wait for the user. */
const STOPPED = [
  ['paused by the user', ({ element }) => element.pause()],
  ['failed', ({ service }) => service.waiting('commit')[0]?.refuse(new UploaderError('forbidden', ''))],
] as const satisfies readonly (readonly [string, (stage: FormStage) => unknown])[];

describe('with submit-when-done, a form', () => {
  it('that is submitted while files are uploading is submitted once, with its button, when they are uploaded', async () => {
    const stage = await waiting({ required: true });
    expect(stage.submissions).to.deep.equal([]);
    expect(stage.element.validationMessage).to.equal(LATER);
    expect(stage.element.shadowRoot?.activeElement).to.equal(one(stage.element, '.base'));
    await finished(stage);
    expect(stage.submissions).to.deep.equal(['now 1']);
    await shown(() => stage.element.validationMessage === '');
    stage.send.click();
    expect(stage.submissions).to.deep.equal(['now 1', 'now 1']);
  });

  it('is submitted after the listeners of `upload-completed` and `uploads-finished`, and without a rendering', async () => {
    const stage = await waiting();
    const { element } = stage;
    element.requestUpdate = () => undefined;
    const log: string[] = [];
    for (const name of ['upload-completed', 'uploads-finished'])
      element.addEventListener(name, () => log.push(name));
    stage.form.addEventListener('submit', () => log.push('submit'));
    finish(stage);
    await until(() => log.length === 3);
    expect(log).to.deep.equal(['upload-completed', 'uploads-finished', 'submit']);
  });

  it('is not submitted by itself', async () => {
    const stage = await inForm();
    await begin(stage);
    finish(stage);
    await fileReaches(stage, 'a.txt', 'done');
    await stage.element.updateComplete;
    expect(stage.submissions).to.deep.equal([]);
  });

  it('waits for all files, and says the same when it is submitted again', async () => {
    const stage = await inForm();
    await begin(stage, 'a.txt', 'b.txt');
    await press(stage);
    stage.send.click();
    expect(stage.element.validationMessage).to.equal(LATER);
    stage.service.waiting('commit')[0]?.answer();
    await until(() => stage.element.snapshot.totals.doneCount === 1);
    await stage.element.updateComplete;
    expect(stage.submissions).to.deep.equal([]);
    await finished(stage);
    expect(stage.submissions).to.deep.equal(['now 2']);
  });

  it('starts the uploads with `manual`', async () => {
    const stage = await inForm({ manual: true });
    await stage.element.addFiles(textFile('a.txt'));
    stage.send.click();
    await finished(stage);
    expect(stage.submissions).to.deep.equal(['now 1']);
  });

  it('has its other fields checked before it waits', async () => {
    const stage = await inForm({ manual: true });
    (stage.form.elements.namedItem('title') as HTMLInputElement).value = '';
    await stage.element.addFiles(textFile('a.txt'));
    await press(stage);
    expect(stage.element.snapshot.files[0]?.phase).to.equal('queued');
    expect(stage.element.validationMessage).to.equal('');
  });

  it('counts files that are uploading for min-files', async () => {
    const stage = await inForm({ minFiles: 2 });
    await begin(stage);
    stage.send.click();
    expect(stage.element.validationMessage).to.equal('Upload at least 2 files.');
    await begin(stage, 'b.txt');
    await press(stage);
    expect(stage.element.validationMessage).to.equal(LATER);
  });

  for (const [what, act] of STOPPED) {
    it(`is invalid if a file is ${what}`, async () => {
      const stage = await inForm();
      await begin(stage);
      act(stage);
      await shown(() => stage.element.validationMessage === UNFINISHED);
      await press(stage);
      expect(stage.submissions).to.deep.equal([]);
    });

    it(`says so and waits no longer if a file is ${what} meanwhile`, async () => {
      const stage = await waiting();
      let invalidCount = 0;
      stage.element.addEventListener('invalid', () => invalidCount++);
      act(stage);
      await until(() => invalidCount === 1);
      expect(stage.element.validationMessage).to.equal(UNFINISHED);
      finish(stage);
      await stage.element.retry();
      await stage.element.resume();
      await fileReaches(stage, 'a.txt', 'done');
      await stage.element.updateComplete;
      expect(stage.submissions).to.deep.equal([]);
    });
  }

  it('waits no longer if the last upload is canceled', async () => {
    const stage = await waiting();
    button(stage.element, 'Cancel: a.txt').click();
    await shown(() => stage.element.validationMessage === '');
    button(stage.element, 'Undo').click();
    finish(stage);
    await fileReaches(stage, 'a.txt', 'done');
    await stage.element.updateComplete;
    expect(stage.submissions).to.deep.equal([]);
  });

  it('still waits for the others after one is canceled', async () => {
    const stage = await inForm();
    await begin(stage, 'a.txt', 'b.txt');
    await press(stage);
    button(stage.element, 'Cancel: a.txt').click();
    await stage.element.updateComplete;
    await finished(stage);
    expect(stage.submissions).to.deep.equal(['now 1']);
  });

  it('waits no longer after a reset, or in another form', async () => {
    const stage = await waiting();
    const other = await fixture<HTMLFormElement>(html`<form></form>`);
    other.append(stage.element);
    await stage.element.updateComplete;
    expect(stage.element.validationMessage).to.equal('');
    other.addEventListener('submit', (event) => {
      event.preventDefault();
      stage.submissions.push('other');
    });
    other.requestSubmit();
    expect(stage.element.validationMessage).to.equal(LATER);
    other.reset();
    await until(() => stage.element.snapshot.files.length === 0);
    stage.send.click();
    expect(stage.submissions).to.deep.equal(['now 0']);
  });

  it('waits even if it has no validation, and the element no name', async () => {
    const stage = await inForm({ name: '' });
    stage.form.noValidate = true;
    await begin(stage);
    stage.send.click();
    expect(stage.submissions).to.deep.equal([]);
    await finished(stage);
    expect(stage.submissions).to.deep.equal(['now 0']);
  });

  it('does not wait for a disabled element, nor without the attribute', async () => {
    const stage = await inForm({ name: '' });
    await begin(stage);
    stage.element.disabled = true;
    await stage.element.updateComplete;
    stage.send.click();
    expect(stage.submissions).to.deep.equal(['now 0']);
    stage.element.disabled = false;
    stage.element.submitWhenDone = false;
    await stage.element.updateComplete;
    stage.send.click();
    expect(stage.submissions).to.deep.equal(['now 0', 'now 0']);
  });

  it('leaves forms inside of it alone, such as that of the sign-in', async () => {
    const stage = await inForm();
    await begin(stage);
    const inner = document.createElement('form');
    let innerCount = 0;
    inner.addEventListener('submit', (event) => {
      event.preventDefault();
      event.stopPropagation();
      innerCount += 1;
    });
    stage.element.append(inner);
    inner.requestSubmit();
    expect(innerCount).to.equal(1);
    finish(stage);
    await fileReaches(stage, 'a.txt', 'done');
    await stage.element.updateComplete;
    expect(stage.submissions).to.deep.equal([]);
  });

  for (const [what, act] of STOPPED)
    it(`without validation is not submitted if a file is ${what}, before and while it waits`, async () => {
      const stage = await inForm();
      stage.form.noValidate = true;
      await begin(stage);
      await press(stage);
      act(stage);
      await shown(() => stage.element.validationMessage === UNFINISHED);
      await press(stage);
      expect(stage.submissions).to.deep.equal([]);
    });

  it('is submitted once if a listener submits it, too', async () => {
    const stage = await waiting();
    stage.element.addEventListener('uploads-finished', () => stage.form.requestSubmit());
    await finished(stage);
    await stage.element.updateComplete;
    await shown(() => stage.element.validationMessage === '');
    expect(stage.submissions).to.deep.equal(['null 1']);
  });

  it('starts files that are added while it waits, with `manual`', async () => {
    const stage = await inForm({ manual: true });
    await stage.element.addFiles(textFile('a.txt'));
    stage.send.click();
    await stage.element.addFiles(textFile('b.txt'));
    await finished(stage);
    expect(stage.submissions).to.deep.equal(['now 2']);
  });

  for (const [what, prepare] of [
    ['a button without validation', ({ send }) => send.setAttribute('formnovalidate', '')],
    ['a button that closes a dialog', ({ send }) => send.setAttribute('formmethod', 'dialog')],
    ['the form of a dialog', ({ form }) => form.setAttribute('method', 'dialog')],
  ] as const satisfies readonly (readonly [string, (stage: FormStage) => unknown])[])
    it(`does not wait for ${what}`, async () => {
      const stage = await inForm({ manual: true });
      await stage.element.addFiles(textFile('a.txt'));
      prepare(stage);
      await press(stage);
      expect(stage.submissions).to.deep.equal(['now 0']);
      expect(stage.element.snapshot.files[0]?.phase).to.equal('queued');
    });

  it('ignores a submission that the page has prevented', async () => {
    const stage = await inForm({ manual: true });
    await stage.element.addFiles(textFile('a.txt'));
    await stage.element.updateComplete;
    window.addEventListener('submit', (event) => event.preventDefault(), { capture: true, once: true });
    await press(stage);
    expect(stage.element.snapshot.files[0]?.phase).to.equal('queued');
  });

  it('is submitted if the page removes files as soon as they are uploaded', async () => {
    const stage = await inForm();
    stage.element.addEventListener('upload-completed', ({ detail }) => void stage.element.remove(detail.id));
    await begin(stage);
    await press(stage);
    await finished(stage);
  });

  it('is not submitted while the element is disabled or not in the page, but afterwards', async () => {
    const stage = await waiting();
    stage.element.disabled = true;
    finish(stage);
    await fileReaches(stage, 'a.txt', 'done');
    await stage.element.updateComplete;
    expect(stage.submissions).to.deep.equal([]);
    const { parentElement } = stage.form;
    stage.form.remove();
    stage.element.disabled = false;
    await stage.element.updateComplete;
    expect(stage.submissions).to.deep.equal([]);
    parentElement?.append(stage.form);
    stage.element.requestUpdate();
    await until(() => stage.submissions.length > 0);
    expect(stage.submissions).to.deep.equal(['now 1']);
  });

  it('still waits after the element was moved in it, and after the type of its button has changed', async () => {
    const stage = await waiting();
    stage.form.prepend(stage.element);
    stage.send.type = 'button';
    await finished(stage);
    expect(stage.submissions).to.deep.equal(['now 1']);
  });

  it('waits for files that are still being read', async () => {
    const stage = await inForm({ required: true });
    const read = deferred<File>();
    replace(globalThis, 'showOpenFilePicker' as never, async () => [
      { kind: 'file', name: 'a.txt', getFile: () => read.promise },
    ]);
    const isAdded = stage.element.browse();
    await settled();
    await press(stage);
    expect(stage.submissions).to.deep.equal([]);
    expect(stage.element.validationMessage).to.equal(LATER);
    read.resolve(textFile('a.txt'));
    await isAdded;
    await finished(stage);
    expect(stage.submissions).to.deep.equal(['now 1']);
  });

  it('starts many files that are added while it waits at once', async () => {
    const stage = await inForm({ manual: true });
    await stage.element.addFiles(textFile('a.txt'));
    stage.send.click();
    let startCount = 0;
    const { start } = stage.element;
    stage.element.start = () => {
      startCount += 1;
      return start.call(stage.element);
    };
    await stage.element.addFiles(Array.from({ length: 50 }, (_, at) => textFile(`${at}.txt`)));
    await finished(stage);
    expect(stage.submissions).to.deep.equal(['now 51']);
    expect(startCount).to.be.within(1, 5);
  });
});
