/**
 * Registers `<secure-uploader>`, unless the page has already done so.
 *
 * @example
 * ```ts
 * import 'secure-uploader/define';
 * import type { SecureUploader } from 'secure-uploader';
 *
 * const uploader: SecureUploader | null = document.querySelector('secure-uploader');
 * uploader?.addEventListener('file-added', ({ detail }) => console.log(detail.name));
 * ```
 *
 * @module
 */

import { SecureUploader } from './ui/secure-uploader.ts';

if (!customElements.get('secure-uploader')) customElements.define('secure-uploader', SecureUploader);

export { SecureUploader };
