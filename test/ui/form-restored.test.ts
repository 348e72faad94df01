// The values of a form after the browser restored them: whose they are decides who gets them back.

import { expect } from '@open-wc/testing';
import type { AuthMode } from '../../src/core/types.ts';
import { replace, world } from '../support/world.ts';
import { type FormSettings, type FormStage, inForm, namesOf, upload, valuesOf } from './form-stage.ts';
import { button, one, shown, textOf } from './support.ts';

type FormState = File | string | FormData | null;

interface FormCallbacks {
  readonly internals: ElementInternals;
  formStateRestoreCallback(state: FormState, mode: string): void;
}

const callbacksOf = ({ element }: FormStage): FormCallbacks => element as unknown as FormCallbacks;

/** What elements gave the browser to restore. Without a state, browsers restore the value. */
let states = new WeakMap<ElementInternals, FormState>();

const stateOf = (stage: FormStage): FormState => states.get(callbacksOf(stage).internals) ?? null;

/** Lets the browser restore `state`, as after "Back". */
async function restore(stage: FormStage, state: FormState): Promise<void> {
  callbacksOf(stage).formStateRestoreCallback(state, 'restore');
  await stage.element.updateComplete;
}

/** Uploads files with `settings`, and leaves the page. Returns what the browser will restore. */
async function leave(settings: FormSettings, ...names: string[]): Promise<FormState> {
  const stage = await inForm({ name: 'documents', ...settings });
  for (const name of names.length > 0 ? names : ['a.txt']) await upload(stage, name);
  await shown(() => valuesOf(stage.form).length === Math.max(names.length, 1));
  stage.element.remove();
  return stateOf(stage);
}

/** Uploads a file with `settings`, leaves the page, and comes back with `now`. */
async function comeBack(settings: FormSettings = {}, now: FormSettings = settings): Promise<FormStage> {
  const state = await leave(settings);
  const stage = await inForm({ name: 'documents', ...now });
  await restore(stage, state);
  return stage;
}

/** Signs out on another page, whose uploader has another service. */
async function signOutElsewhere(auth: AuthMode): Promise<void> {
  const { element } = await world({ element: true, auth });
  await element.signOut();
  element.remove();
}

function expectNothing({ element, form }: FormStage): void {
  expect(valuesOf(form)).to.deep.equal([]);
  expect(textOf(element)).not.to.contain('uploaded');
}

function expectRestored({ element, form }: FormStage): void {
  expect(namesOf(form)).to.deep.equal(['a.txt']);
  expect(textOf(element)).to.contain('1 file uploaded');
}

/** Changes the owner, as a page does that learns its user. */
async function name({ element }: FormStage, owner: string): Promise<void> {
  element.owner = owner;
  await element.updateComplete;
}

describe('a form value that the browser restores', () => {
  beforeEach(() => {
    states = new WeakMap();
    const { setFormValue } = ElementInternals.prototype;
    replace(
      ElementInternals.prototype,
      'setFormValue',
      function set(this: ElementInternals, value: FormState, state: FormState = value) {
        states.set(this, state);
        setFormValue.call(this, value, state);
      },
    );
  });

  afterEach(() => localStorage.clear());

  it('is submitted, with that of new files', async () => {
    const state = await leave({}, 'a.txt', 'b.txt');
    const stage = await inForm({ name: 'documents', minFiles: 3 });
    await restore(stage, state);
    expect(namesOf(stage.form)).to.deep.equal(['a.txt', 'b.txt']);
    expect(stage.form.checkValidity()).to.equal(false);
    await upload(stage, 'c.txt');
    await stage.element.updateComplete;
    expect(namesOf(stage.form)).to.deep.equal(['a.txt', 'b.txt', 'c.txt']);
    expect(stage.form.checkValidity()).to.equal(true);
  });

  it('shows how many files it has, and is removed on request', async () => {
    const state = await leave({}, 'a.txt', 'b.txt');
    const stage = await inForm({ name: 'documents' });
    await restore(stage, state);
    expect(textOf(stage.element)).to.contain('All 2 files uploaded');
    button(stage.element, 'Remove from list').click();
    await stage.element.updateComplete;
    expectNothing(stage);
  });

  it('is dropped on reset', async () => {
    const stage = await comeBack();
    stage.form.reset();
    await stage.element.updateComplete;
    expectNothing(stage);
  });

  it('is dropped when its user signs out', async () => {
    const stage = await comeBack();
    await stage.element.signOut();
    await stage.element.updateComplete;
    expectNothing(stage);
  });

  it('is there again for the same owner', async () => {
    expectRestored(await comeBack({ owner: 'alice' }));
  });

  it('is not shown or submitted for another owner, and does not count', async () => {
    const stage = await comeBack({ owner: 'alice' }, { owner: 'bob', required: true });
    expectNothing(stage);
    expect(stage.element.validity.valueMissing).to.equal(true);
  });

  it('waits for its owner in a page that names its owner late, also if that page is left again', async () => {
    const stage = await comeBack({ owner: 'alice' }, {});
    expectNothing(stage);
    const later = await inForm({ name: 'documents' });
    await restore(later, stateOf(stage));
    expectNothing(later);
    await name(later, 'alice');
    expectRestored(later);
    await name(stage, 'bob');
    expectNothing(stage);
  });

  it('without an owner, is not given to an owner who is named later', async () => {
    expectNothing(await comeBack({}, { owner: 'alice' }));
    const stage = await comeBack({}, {});
    expectRestored(stage);
    await name(stage, 'alice');
    expectNothing(stage);
  });

  it('belongs to the owner who was named after the upload', async () => {
    const first = await inForm({ name: 'documents' });
    await upload(first, 'a.txt');
    await name(first, 'alice');
    const stage = await inForm({ name: 'documents', owner: 'alice' });
    await restore(stage, stateOf(first));
    expectRestored(stage);
  });

  it('is dropped when the owner changes', async () => {
    const stage = await comeBack({ owner: 'alice' });
    await name(stage, 'bob');
    expectNothing(stage);
  });

  it('is not submitted in the task in which the owner changes', async () => {
    const stage = await comeBack({ owner: 'alice' });
    const sent: unknown[][] = [];
    stage.form.addEventListener('submit', (event) => {
      event.preventDefault();
      sent.push(valuesOf(stage.form));
    });
    stage.element.owner = 'bob';
    stage.form.requestSubmit();
    expect(sent).to.deep.equal([[]]);
  });

  it('is not there after a sign-out on another page, with and without an owner', async () => {
    for (const auth of ['none', 'token', 'popup', 'redirect', 'local', 'auto'] as const) {
      const settings = auth === 'redirect' || auth === 'none' ? {} : { owner: 'alice' };
      const state = await leave(settings);
      await signOutElsewhere(auth);
      const stage = await inForm({ name: 'documents', ...settings });
      await restore(stage, state);
      expectNothing(stage);
      await upload(stage, 'of-the-next-user.txt');
      await restore(stage, state);
      expect(namesOf(stage.form)).to.deep.equal(['of-the-next-user.txt']);
    }
  });

  it('is not there after a sign-out with invalid settings', async () => {
    const state = await leave({});
    const { element } = await world({ element: true, baseUrl: '' });
    await element.signOut().catch(() => undefined);
    const stage = await inForm({ name: 'documents' });
    await restore(stage, state);
    expectNothing(stage);
  });

  it('disappears when another tab signs out, or clears the storage', async () => {
    const stage = await comeBack({ required: true });
    expect(stage.form.checkValidity()).to.equal(true);
    const tab = document.createElement('iframe');
    document.body.append(tab);
    tab.contentWindow?.localStorage.clear();
    await shown(() => valuesOf(stage.form).length === 0);
    await stage.element.updateComplete;
    expectNothing(stage);
    expect(stage.form.checkValidity()).to.equal(false);
    tab.remove();
  });

  it('disappears when another uploader of the page signs out', async () => {
    const stage = await comeBack();
    const other = await inForm({ name: 'photos', baseUrl: 'https://second.test' });
    await other.element.signOut();
    await stage.element.updateComplete;
    expectNothing(stage);
  });

  it('is gone after a sign-out while the page was in the back/forward cache', async () => {
    const stage = await comeBack();
    localStorage.clear();
    window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    await stage.element.updateComplete;
    expectNothing(stage);
  });

  it('stops a submission if it is gone since the browser validated the form', async () => {
    const stage = await comeBack({ required: true });
    let submitCount = 0;
    stage.form.addEventListener('submit', (event) => {
      event.preventDefault();
      submitCount += 1;
    });
    localStorage.clear();
    stage.form.requestSubmit();
    expect(submitCount).to.equal(0);
    expect(stage.element.shadowRoot?.activeElement).to.equal(one(stage.element, '.base'));
  });

  it('is not there if the storage is blocked', async () => {
    const state = await leave({});
    replace(Storage.prototype, 'getItem', () => {
      throw new DOMException('blocked', 'SecurityError');
    });
    const stage = await inForm({ name: 'documents' });
    await restore(stage, state);
    expectNothing(stage);
    await upload(stage, 'b.txt');
    await stage.element.updateComplete;
    expect(namesOf(stage.form)).to.deep.equal(['b.txt']);
    const later = await inForm({ name: 'documents' });
    await restore(later, stateOf(stage));
    expectNothing(later);
  });

  it('of another format is dropped', async () => {
    const stage = await comeBack();
    const data = new FormData();
    for (const key of ['documents', '', 'alice', 'secure-uploader']) data.append(key, '{"name":"a.txt"}');
    for (const state of [data, '{"name":"a.txt"}', new File(['{}'], 'a.txt')]) {
      await restore(stage, new FormData());
      await restore(stage, state);
      expectNothing(stage);
    }
  });

  it('has all values, or none if one of them is a file, which browsers do not restore', async () => {
    const file = new File(['x'], 'x.txt');
    const state = await leave(
      { formValue: ({ name }) => (name === 'b.txt' ? file : name) },
      'a.txt',
      'b.txt',
    );
    const stage = await inForm({ name: 'documents' });
    await restore(stage, state);
    expectNothing(stage);
  });

  it('is not there if the field got its name after the upload', async () => {
    const first = await inForm({});
    await upload(first, 'a.txt');
    first.element.name = 'documents';
    await first.element.updateComplete;
    expect(namesOf(first.form)).to.deep.equal(['a.txt']);
    const stage = await inForm({ name: 'documents' });
    await restore(stage, stateOf(first));
    expectNothing(stage);
  });

  it('does not leave values of a list to the next owner', async () => {
    const stage = await inForm({ name: 'documents', owner: 'alice' });
    await upload(stage, 'a.txt');
    await stage.element.updateComplete;
    expect(namesOf(stage.form)).to.deep.equal(['a.txt']);
    stage.element.owner = 'bob';
    await stage.element.updateComplete;
    expect(valuesOf(stage.form)).to.deep.equal([]);
    const later = await inForm({ name: 'documents', owner: 'bob' });
    await restore(later, stateOf(stage));
    expectNothing(later);
  });
});
