// The playground: the element, its settings, its events, and the uploaded files.

import 'secure-uploader/define';
import type { SecureUploader } from 'secure-uploader';
import { type DemoConfig, download, loadConfig, signIn } from './account.ts';
import { logEvents } from './event-log.ts';

const find = <T extends HTMLElement>(selector: string): T => document.querySelector<T>(selector) as T;
const element = find<SecureUploader>('secure-uploader');
const form = find<HTMLFormElement>('#settings');
const config = await loadConfig();

let token: Promise<string> | undefined;
/** Returns the page's own token, for downloads and for the setting "The page has a token". */
const pageToken = (): Promise<string> => {
  const [user] = config.seed.users;
  token ??= signIn(config.baseUrl, user?.email ?? '', config.seed.password).then((answer) => answer.token);
  token.catch(() => {
    token = undefined;
  });
  return token;
};

/** Sets each attribute to the value of the control with the same name. Removes the attribute if the control is empty. */
function applySettings(): void {
  for (const control of form.elements) {
    if (!(control instanceof HTMLInputElement || control instanceof HTMLSelectElement)) continue;
    const { name } = control;
    if (!name || control.dataset.look !== undefined) continue;
    const isBox = control instanceof HTMLInputElement && control.type === 'checkbox';
    const value = isBox ? '' : control.value;
    const isSet = isBox ? control.checked : value !== '';
    if (name === 'getToken') element.getToken = isSet ? () => pageToken() : undefined;
    else if (isSet) element.setAttribute(name, value);
    else element.removeAttribute(name);
  }
  showCode();
}

/** Applies the controls that style the page. */
function applyLook(): void {
  const look = new FormData(form);
  const text = (name: string): string => String(look.get(name) ?? '');
  document.documentElement.style.colorScheme = text('scheme');
  document.documentElement.dir = text('dir');
  find('#stage').style.inlineSize = `${text('width')}%`;
  element.style.setProperty('--secure-uploader-radius', `${text('radius')}px`);
  if (text('custom-accent')) element.style.setProperty('--secure-uploader-accent', text('accent'));
  else element.style.removeProperty('--secure-uploader-accent');
}

function showCode(): void {
  const attributes = [...element.attributes]
    .filter(({ name }) => name !== 'style')
    .map(({ name, value }) => (value === '' ? name : `${name}="${value}"`));
  find('#code').textContent =
    `<script type="module">\n  import 'secure-uploader/define';\n</script>\n<secure-uploader\n  ${attributes.join('\n  ')}\n></secure-uploader>`;
}

function addFinished(name: string, fileId: string): void {
  const item = document.createElement('li');
  const label = Object.assign(document.createElement('bdi'), { textContent: name });
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Download' });
  const status = Object.assign(document.createElement('span'), { role: 'status' });
  button.addEventListener('click', async () => {
    status.textContent = '';
    try {
      await download(config.baseUrl, fileId, name, await pageToken());
    } catch (error) {
      status.textContent = (error as Error).message;
    }
  });
  item.append(label, status, button);
  find('#finished').prepend(item);
  find('#nothing').hidden = true;
}

function fillIn({ baseUrl, seed }: DemoConfig): void {
  const folders = find<HTMLSelectElement>('[name=parent-id]');
  for (const { id, name } of seed.folders) folders.add(new Option(name, id));
  const users = find('#users');
  for (const { email, about } of seed.users) {
    const row = document.createElement('li');
    row.append(Object.assign(document.createElement('code'), { textContent: email }), ` ${about ?? ''}`);
    users.append(row);
  }
  find('#password').textContent = seed.password;
  element.setAttribute('base-url', baseUrl);
  element.setAttribute('commit-path', '/files/uploadsession/commit');
  element.setAttribute('cancel-path', '/files/uploadsession');
}

fillIn(config);
logEvents(element, find('#log'));
element.addEventListener('upload-completed', ({ detail }) => {
  const { file_id } = (detail.commit ?? {}) as { file_id?: string };
  if (file_id) addFinished(detail.name, file_id);
});
find('#clear-log').addEventListener('click', () => find('#log').replaceChildren());
find('#report').addEventListener('click', async () => {
  const report = JSON.stringify(await element.diagnose(), undefined, 2);
  // Browsers may forbid it, for example in a frame.
  const isCopied = await navigator.clipboard.writeText(report).then(
    () => true,
    () => false,
  );
  if (!isCopied) console.log(report);
  find('#report-status').textContent = isCopied ? 'Copied' : 'See the console';
});
find('#sign-out').addEventListener('click', () => void element.signOut());
form.addEventListener('input', () => {
  applySettings();
  applyLook();
});
form.addEventListener('submit', (event) => event.preventDefault());
applySettings();
applyLook();
