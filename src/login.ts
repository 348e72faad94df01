// `<secure-uploader-login>` for a page of its own, the service's own sign-in page above all. Importing it defines the element.

import { defineLogin } from './ui/secure-uploader-login.ts';

export { SecureUploaderLogin } from './ui/secure-uploader-login.ts';

defineLogin();
