// Types of the elements' tags in JSX, for React 18.2 or later. Import `secure-uploader/jsx` once in a project.

import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { SecureUploader } from './ui/secure-uploader.js';
import type { SecureUploaderLogin } from './ui/secure-uploader-login.js';
import type { LoginTag, UploaderTag } from './ui/tag.js';

type Tag<Element, Own> = DetailedHTMLProps<Omit<HTMLAttributes<Element>, keyof Own> & Own, Element>;

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'secure-uploader': Tag<SecureUploader, UploaderTag>;
      'secure-uploader-login': Tag<SecureUploaderLogin, LoginTag>;
    }
  }
}
