// Registers `<secure-uploader-login>`, the sign-in form, for the service's own sign-in page.

import { defineLogin } from './ui/secure-uploader-login.ts';

export { ENGLISH_LOGIN } from './locales/en-login.ts';
export { SecureUploaderLogin } from './ui/secure-uploader-login.ts';

defineLogin();
