// The playground: the element, its settings, its events, and the uploaded files.

import 'secure-uploader/define';
import type { SecureUploader } from 'secure-uploader';
import { connect, type DemoConfig, listFinished, loadConfig, pageToken } from './account.ts';
import { copied, showElementCode } from './code.ts';
import { logEvents } from './event-log.ts';
import { addThemes, applyLook } from './look.ts';

const find = <T extends HTMLElement>(selector: string): T => document.querySelector<T>(selector) as T;
const element = find<SecureUploader>('secure-uploader');
const form = find<HTMLFormElement>('#settings');
const config = await loadConfig();
connect(element, config);
const updateCode = showElementCode(find('#code'), element);

/** Sets each attribute to the value of the control with the same name. Removes the attribute if the control is empty. */
function applySettings(): void {
  for (const control of form.elements) {
    if (!(control instanceof HTMLInputElement || control instanceof HTMLSelectElement)) continue;
    const { name } = control;
    if (!name || control.dataset.look !== undefined) continue;
    const isBox = control instanceof HTMLInputElement && control.type === 'checkbox';
    const value = isBox ? '' : control.value;
    const isSet = isBox ? control.checked : value !== '';
    if (name === 'getToken') element.getToken = isSet && config ? () => pageToken(config) : undefined;
    else if (isSet) element.setAttribute(name, value);
    else element.removeAttribute(name);
  }
  updateCode();
}

/** Applies the controls that style the page. */
function applyStyle(): void {
  const look = new FormData(form);
  const text = (name: string): string => String(look.get(name) ?? '');
  void applyLook(look);
  find('#stage').style.inlineSize = `${text('width')}%`;
  element.style.setProperty('--secure-uploader-radius', `${text('radius')}px`);
  if (text('custom-accent')) element.style.setProperty('--secure-uploader-accent', text('accent'));
  else element.style.removeProperty('--secure-uploader-accent');
}

function fillIn(config: DemoConfig): void {
  const { seed } = config;
  const folders = find<HTMLSelectElement>('[name=parent-id]');
  for (const { id, name } of seed.folders) folders.add(new Option(name, id));
  const users = find('#users');
  for (const { email, about } of seed.users) {
    const row = document.createElement('li');
    row.append(Object.assign(document.createElement('code'), { textContent: email }), ` ${about ?? ''}`);
    users.append(row);
  }
  find('#password').textContent = seed.password;
  listFinished(element, config, find('#finished'), find('#nothing')).catch(() => undefined);
}

if (config) fillIn(config);
addThemes(find('[name=theme]'));
logEvents(element, find('#log'));
find('#clear-log').addEventListener('click', () => find('#log').replaceChildren());
find('#report').addEventListener('click', async () => {
  const report = JSON.stringify(await element.diagnose(), undefined, 2);
  find('#report-status').textContent = await copied(report);
});
find('#sign-out').addEventListener('click', () => void element.signOut());
form.addEventListener('input', () => {
  applySettings();
  applyStyle();
});
form.addEventListener('submit', (event) => event.preventDefault());
applySettings();
applyStyle();
