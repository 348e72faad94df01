/**
 * Registers `<secure-uploader>`, unless the page has already done so. Warns if it was registered by another copy of this module.
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

import { warnOnConsole } from './core/warn.ts';
import { SecureUploader } from './ui/secure-uploader.ts';

const defined = customElements.get('secure-uploader');
if (!defined) customElements.define('secure-uploader', SecureUploader);
else if (defined !== SecureUploader && !(defined.prototype instanceof SecureUploader))
  warnOnConsole('<secure-uploader> is already defined by another copy of this script. Load it only once.');

export { SecureUploader };
