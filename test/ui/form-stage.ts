// Creates an element in a form, with a scripted service, and reads the values of the form.

import { fixture, html } from '@open-wc/testing';
import type { SecureUploader } from '../../src/index.ts';
import { fileReaches, type World, type WorldSettings, world } from '../support/world.ts';
import { textFile } from './support.ts';

const DONE = ['open', 'presign', 'put', 'commit'] as const;

export interface FormSettings extends WorldSettings {
  readonly name?: string;
  readonly required?: boolean;
  readonly submitWhenDone?: boolean;
  readonly formValue?: SecureUploader['formValue'];
}

export interface FormStage extends World<true> {
  readonly form: HTMLFormElement;
}

/** Creates an element in a form. The service responds to requests of the kinds in `answers`. */
export async function inForm(
  settings: FormSettings,
  answers: readonly (typeof DONE)[number][] = DONE,
): Promise<FormStage> {
  const form = await fixture<HTMLFormElement>(html`<form><fieldset></fieldset></form>`);
  const stage = await world({ element: true, answers, ...settings });
  form.querySelector('fieldset')?.append(stage.element);
  stage.element.requestUpdate();
  await stage.element.updateComplete;
  return { ...stage, form };
}

export const valuesOf = (form: HTMLFormElement): unknown[] => [...new FormData(form).values()];
export const namesOf = (form: HTMLFormElement): unknown[] =>
  valuesOf(form).map((value) => JSON.parse(value as string).name);

export async function upload(stage: World<true>, name: string): Promise<string> {
  await stage.element.addFiles(textFile(name));
  return fileReaches(stage, name, 'done');
}
