// The element's events by name, for `addEventListener`. They are the engine's changes and two questions; nothing else is
// dispatched.

import type { ChangeMap } from '../core/changes.ts';
import type { SecureUploader } from './secure-uploader.ts';

/** A file that is about to be added; preventing the event refuses it. */
export interface FileAddDetail {
  readonly name: string;
  readonly relativePath: string;
  readonly sizeBytes: number;
  readonly type: string;
}

/** Sign-in is about to leave the page; preventing the event stays. */
export interface AuthRedirectDetail {
  /** Files that are not done, and would have to be picked again. */
  readonly openCount: number;
}

/** The events of `<secure-uploader>` beside those of every HTML element. All bubble, are composed, and have a frozen detail. */
export type SecureUploaderEvents = { readonly [K in keyof ChangeMap]: CustomEvent<ChangeMap[K]> } & {
  /** Cancelable: asked before a file is added. */
  readonly 'file-add': CustomEvent<FileAddDetail>;
  /** Cancelable: asked before sign-in leaves the page. */
  readonly 'auth-redirect': CustomEvent<AuthRedirectDetail>;
};

/** All events that `addEventListener` of the element knows. */
export type SecureUploaderEventMap = HTMLElementEventMap & SecureUploaderEvents;

declare global {
  interface HTMLElementTagNameMap {
    'secure-uploader': SecureUploader;
  }
}
