// Types of the elements' tags in Vue templates. Import `secure-uploader/vue` once in a project.

import type { HTMLAttributes, PublicProps } from 'vue';
import type { SecureUploader } from './ui/secure-uploader.js';
import type { SecureUploaderLogin } from './ui/secure-uploader-login.js';
import type { LoginProps, UploaderProps } from './ui/tag.js';

type Tag<Element, Own> = new () => Element & {
  $props: Omit<HTMLAttributes, keyof Own> & Own & PublicProps;
};

declare module 'vue' {
  interface HTMLAttributes {
    /** Slot of a custom element. Vue's types lack it, so `strictTemplates` would refuse it. */
    slot?: string | undefined;
  }
  interface GlobalComponents {
    'secure-uploader': Tag<SecureUploader, UploaderProps>;
    'secure-uploader-login': Tag<SecureUploaderLogin, LoginProps>;
  }
}
