// The types of all events, for `addEventListener`.

import type { ChangeMap } from '../core/changes.ts';
import type { SecureUploader } from './secure-uploader.ts';

/** Detail of `file-add`: the file that is about to be added. */
export interface FileAddDetail {
  readonly name: string;
  readonly relativePath: string;
  readonly sizeBytes: number;
  readonly type: string;
}

/** Detail of `auth-redirect`. */
export interface AuthRedirectDetail {
  /** Number of unfinished files, which the user may have to choose again after the redirect. */
  readonly openCount: number;
}

/**
 * Events of `<secure-uploader>`, in addition to the events of every HTML element. All events bubble, are composed and have a frozen
 * detail.
 */
export type SecureUploaderEvents = {
  /** A file is about to be added. Cancelable: `preventDefault()` skips the file. */
  readonly 'file-add': CustomEvent<FileAddDetail>;
  /** Sign-in is about to leave the page. Cancelable: `preventDefault()` stays on the page. */
  readonly 'auth-redirect': CustomEvent<AuthRedirectDetail>;
} & { readonly [K in keyof ChangeMap]: CustomEvent<ChangeMap[K]> };

/** All events by name, including the events of every HTML element. */
export type SecureUploaderEventMap = HTMLElementEventMap & SecureUploaderEvents;

declare global {
  interface HTMLElementTagNameMap {
    'secure-uploader': SecureUploader;
  }
}

/** `addEventListener` and `removeEventListener`, with the events of the element. */
export interface ListenerMethod {
  <K extends keyof SecureUploaderEventMap>(
    type: K,
    listener: (this: SecureUploader, event: SecureUploaderEventMap[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  (
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}
