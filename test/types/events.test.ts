// Types that a page's own TypeScript may rely on. This file is compiled and never run: a wrong type fails `npm run check`.

import type {
  AuthOptions,
  ErrorCode,
  Idp,
  LoginMessages,
  Messages,
  PickedFile,
  SecureUploader,
  SecureUploaderEventMap,
  SettingsInput,
  Snapshot,
  UploaderOptions,
} from '../../src/index.ts';

type Is<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(): T | undefined => undefined;

declare const element: SecureUploader;

element.addEventListener('upload-completed', (event) => {
  is<Is<typeof event.detail.sentBytes, number>>();
  is<Is<(typeof event.detail.chunks)[number]['receipt'], string>>();
  // @ts-expect-error A detail is read-only.
  event.detail.name = '';
});
element.addEventListener('upload-failed', ({ detail }) => {
  is<Is<typeof detail.code, ErrorCode>>();
  // @ts-expect-error There is no such code.
  if (detail.code === 'no-such-code') return;
});
element.addEventListener('file-add', (event) => {
  is<Is<typeof event.detail.sizeBytes, number>>();
  event.preventDefault();
});
const onCompleted = (event: SecureUploaderEventMap['upload-completed']): void => void event.detail.chunks;
element.addEventListener('upload-completed', onCompleted, { once: true });
element.removeEventListener('upload-completed', onCompleted);
element.removeEventListener('something-of-the-page', (event: Event) => void event);
// @ts-expect-error The listener is of another event.
element.removeEventListener('upload-failed', onCompleted);
element.addEventListener('auth-required', ({ detail }) => detail.respondWith(Promise.resolve('token')));
element.addEventListener('click', (event) => is<Is<typeof event, PointerEvent>>());
element.addEventListener('something-of-the-page', (event) => is<Is<typeof event, Event>>());

const found = document.querySelector('secure-uploader');
is<Is<typeof found, SecureUploader | null>>();
is<Is<typeof element.snapshot, Snapshot>>();
// @ts-expect-error The snapshot is the engine's.
element.snapshot = found?.snapshot;
// @ts-expect-error A token cannot be read.
const token: string = element.token;

is<Is<ReturnType<SecureUploader['addFiles']>, Promise<void>>>();
void element.addFiles([new File([], 'a.txt')]);
void element.addFiles(new File([], 'a.txt'));
// @ts-expect-error A name is no file.
void element.addFiles(['a.txt']);
void element.addFiles([{ file: new File([], 'a.txt'), relativePath: 'b/a.txt' } satisfies PickedFile]);
const removed: Promise<void> = element.remove('id');
element.remove();
element.auth = 'popup';
// @ts-expect-error There is no such way to sign in.
element.auth = 'window';
// @ts-expect-error There is no such hash.
element.hash = 'md5';
// @ts-expect-error It is on or off in words of its own.
element.silent = 'yes';
// @ts-expect-error A code is not posted.
element.responseMode = 'form_post';
// @ts-expect-error Nothing is overwritten.
element.onConflict = 'overwrite';
is<Is<SettingsInput['auth'], SecureUploader['auth']>>();
is<Is<SecureUploader['authOptions'], AuthOptions | undefined>>();
is<Is<SecureUploader['engineOptions'], UploaderOptions | undefined>>();
is<Is<UploaderOptions['commitDeadlineMs'], number | undefined>>();
is<Is<SecureUploader['idps'], readonly Idp[]>>();
is<Is<SecureUploader['messages'], Partial<Messages & LoginMessages>>>();
// @ts-expect-error A time is a number.
element.engineOptions = { commitDeadlineMs: '1h' };
// @ts-expect-error There is no such call.
element.authOptions = { adapter: { signIn: async () => ({ status: 200 }) } };
element.messages = { browse: 'x' } as never;
element.messages = { chooseFiles: 'Dateien wählen', network: 'Keine Verbindung.' };

void [token, removed];
