// The first page: the element, and a panel that breaks its uploads.

import 'secure-uploader/define';
import type { SecureUploader } from 'secure-uploader';
import { connect, listFinished, loadConfig, pageToken } from './account.ts';
import { startPanel } from './breakage.ts';
import { showCode } from './code.ts';
import { offerSample } from './sample.ts';

const find = <T extends HTMLElement>(selector: string): T => document.querySelector<T>(selector) as T;
const element = find<SecureUploader>('secure-uploader');
const config = await loadConfig();

/** Users sign in at the service, or the page has a token. */
const setSignIn = (isWindow: boolean): void => {
  element.auth = isWindow ? 'popup' : undefined;
  element.getToken = config && !isWindow ? () => pageToken(config) : undefined;
};

if (config) {
  connect(element, config);
  const signIn = find<HTMLInputElement>('#sign-in');
  setSignIn(signIn.checked); // browsers restore it after a reload
  await startPanel(find('#panel'), config);
  signIn.addEventListener('change', () => setSignIn(signIn.checked));
  find('#account').textContent = `${config.seed.users[0]?.email}, password “${config.seed.password}”`;
  listFinished(element, config, find('#finished'), find('#nothing'));
  offerSample(element, find('#sample'));
  showCode(find('#code'), () => {
    const hidden = ['auth', 'chunk-size', 'concurrency', 'style'];
    const attributes = [...element.attributes].filter(({ name }) => !hidden.includes(name));
    return {
      attributes: Object.fromEntries(attributes.map(({ name, value }) => [name, value])),
      hasToken: true,
    };
  });
}
