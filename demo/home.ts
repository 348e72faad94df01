// The first page: the element, and a panel that breaks its uploads.

import 'secure-uploader/define';
import type { SecureUploader } from 'secure-uploader';
import { connect, listFinished, loadConfig, pageToken } from './account.ts';
import { startPanel } from './breakage.ts';
import { showElementCode } from './code.ts';
import { offerSample } from './sample.ts';

const find = <T extends HTMLElement>(selector: string): T => document.querySelector<T>(selector) as T;
const element = find<SecureUploader>('secure-uploader');
const config = await loadConfig();
connect(element, config);
const updateCode = showElementCode(find('#code'), element, ['chunk-size', 'concurrency']);

if (config) {
  const box = find<HTMLInputElement>('#sign-in');
  const setSignIn = (): void => {
    element.getToken = box.checked ? undefined : () => pageToken(config);
    find('#account').hidden = !box.checked;
    updateCode();
  };
  const [user] = config.seed.users;
  find('#account').textContent =
    `In the window that “Sign in” opens, sign in as ${user?.email}, password “${config.seed.password}”.`;
  box.addEventListener('change', setSignIn);
  setSignIn(); // browsers restore the box after a reload
  const status = find('#news');
  await startPanel(element, find('#panel'), status, config).catch(() => {
    status.textContent = 'The service has no test mode, so nothing can be broken here.';
  });
  listFinished(element, config, find('#finished'), find('#nothing')).catch(() => undefined);
  void offerSample(element, find('#sample'));
}
