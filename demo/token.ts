// A page with a sign-in of its own: it hands its token to the widget, which then never asks anybody for anything.

import 'secure-uploader/define';
import type { SecureUploader } from 'secure-uploader';
import { loadConfig, signIn } from './account.ts';

const find = <T extends HTMLElement>(selector: string): T => document.querySelector<T>(selector) as T;
const { baseUrl, seed } = await loadConfig();
const [user] = seed.users;
const form = find<HTMLFormElement>('form');
const status = find('#status');

find<HTMLInputElement>('[name=email]').value = user?.email ?? '';
find<HTMLInputElement>('[name=password]').value = seed.password;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
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
  Object.assign(element, {
    baseUrl,
    parentId: seed.folders[0]?.id,
    commitPath: '/files/uploadsession/commit',
    multiple: true,
    directory: true,
    getToken: async () => {
      calls += 1;
      status.textContent = `The widget has asked the page ${calls === 1 ? 'once' : `${calls} times`} for a token.`;
      return signIn(baseUrl, ...credentials);
    },
  });
  form.replaceWith(element);
  status.textContent = 'You are signed in to this page. The widget has not asked for a token yet.';
});
