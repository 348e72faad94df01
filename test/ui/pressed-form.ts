// A form with two buttons, which waits for a file after one was pressed.

import { fixture, html } from '@open-wc/testing';
import '../../src/define.ts';
import { until } from '../support/collect.ts';
import { type World, world } from '../support/world.ts';
import { textFile } from './support.ts';

export interface Stage extends World<true> {
  readonly form: HTMLFormElement;
  readonly fieldset: HTMLFieldSetElement;
  readonly publish: HTMLButtonElement;
  /** For each submission: the values, the address, and the id of the button. */
  readonly sent: string[];
  readonly clicks: string[];
}

/** Creates a form with two buttons that waits for a file. */
export async function waiting(prepare: (form: HTMLFormElement) => void = () => undefined): Promise<Stage> {
  const form = await fixture<HTMLFormElement>(
    html`<form action="/sent">
      <fieldset id="inner">
        <input name="title" value="Claim" required />
        <button name="action" value="draft">Draft</button>
        <button id="publish" name="action" value="publish" formaction="/published">Publish</button>
      </fieldset>
    </form>`,
  );
  const stage = await world({
    element: true,
    answers: ['open', 'presign', 'put'],
    ...{ name: 'documents', submitWhenDone: true },
  });
  const fieldset = form.querySelector('fieldset') as HTMLFieldSetElement;
  fieldset.prepend(stage.element);
  prepare(form);
  const publish = form.querySelector('#publish') as HTMLButtonElement;
  const [sent, clicks]: [string[], string[]] = [[], []];
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const submitter = event.submitter as HTMLButtonElement;
    const data = new FormData(form, submitter);
    const { pathname } = new URL(submitter.formAction);
    sent.push(
      [data.get('title'), data.get('action'), data.getAll('documents').length, pathname, submitter.id].join(
        ' ',
      ),
    );
  });
  form.addEventListener('click', (event) => clicks.push((event.target as Element).id));
  await stage.element.updateComplete;
  await stage.element.addFiles(textFile('a.txt'));
  await until(() => stage.element.snapshot.files[0]?.phase === 'committing');
  publish.click();
  await stage.element.updateComplete;
  return { ...stage, form, fieldset, publish, sent, clicks };
}

export const finish = ({ service }: Stage): void => void service.answerAll('commit');
