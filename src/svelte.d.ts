// Types of the elements' tags in Svelte templates. Import `secure-uploader/svelte` once in a project.

import type { HTMLAttributes } from 'svelte/elements';
import type { SecureUploader } from './ui/secure-uploader.js';
import type { SecureUploaderLogin } from './ui/secure-uploader-login.js';
import type { LoginTag, UploaderTag } from './ui/tag.js';

type Tag<Element extends EventTarget, Own> = Omit<HTMLAttributes<Element>, keyof Own> & Own;

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'secure-uploader': Tag<SecureUploader, UploaderTag>;
    'secure-uploader-login': Tag<SecureUploaderLogin, LoginTag>;
  }
}
