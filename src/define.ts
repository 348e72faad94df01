// The only file with a side effect: it registers `<secure-uploader>`, unless the page has done so already.

import { SecureUploader } from './ui/secure-uploader.ts';

if (!customElements.get('secure-uploader')) customElements.define('secure-uploader', SecureUploader);

export { SecureUploader };
