// A page with its own sign-in. It passes its token to the widget through `getToken`.

import 'secure-uploader/define';
import type { SecureUploader } from 'secure-uploader';
import { connect, loadConfig, signIn } from './account.ts';

const find = <T extends HTMLElement>(selector: string): T => document.querySelector<T>(selector) as T;
const config = await loadConfig();
const form = find<HTMLFormElement>('form');
const status = find('#status');

find<HTMLInputElement>('[name=email]').value = config?.seed.users[0]?.email ?? '';
find<HTMLInputElement>('[name=password]').value = config?.seed.password ?? '';

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (!config) return;
  const { baseUrl } = config;
  const fields = new FormData(form);
  const credentials = [String(fields.get('email')), String(fields.get('password'))] as const;
  try {
    await signIn(baseUrl, ...credentials);
  } catch (error) {
    status.textContent = (error as Error).message;
    return;
  }
  const element: SecureUploader = document.createElement('secure-uploader');
  let calls = 0;
  connect(element, config);
  Object.assign(element, {
    multiple: true,
    directory: true,
    getToken: async () => {
      calls += 1;
      status.textContent = `The widget has requested ${calls === 1 ? 'one token' : `${calls} tokens`} from this page.`;
      return signIn(baseUrl, ...credentials);
    },
  });
  form.replaceWith(element);
  status.textContent = 'You are signed in. The widget has not requested a token yet.';
});
