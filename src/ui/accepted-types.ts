// Names the types of an `accept` list for users.

import type { Messages } from '../core/messages.ts';
import { rulesOf } from '../core/names.ts';
import type { Format } from './format.ts';

/** The usual extension of media types whose own name says less. */
const EXTENSIONS = new Map(
  Object.entries({
    'application/gzip': 'GZ',
    'application/msword': 'DOC',
    'application/vnd.ms-excel': 'XLS',
    'application/vnd.ms-powerpoint': 'PPT',
    'application/vnd.oasis.opendocument.presentation': 'ODP',
    'application/vnd.oasis.opendocument.spreadsheet': 'ODS',
    'application/vnd.oasis.opendocument.text': 'ODT',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'PPTX',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'XLSX',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'DOCX',
    'application/x-7z-compressed': '7Z',
    'application/x-zip-compressed': 'ZIP',
    'audio/mpeg': 'MP3',
    'audio/mp4': 'M4A',
    'image/svg+xml': 'SVG',
    'image/vnd.adobe.photoshop': 'PSD',
    'text/plain': 'TXT',
    'video/quicktime': 'MOV',
    'video/x-matroska': 'MKV',
    'video/x-msvideo': 'AVI',
  }),
);

/** Media types such as `application/pdf` and `image/x-icon`, whose own name is what users call the type. */
const OWN_NAME = /^[\w.+-]+\/(?:x-)?([a-z0-9]{1,6})$/;

function nameOf(type: string, { kinds }: Messages): string {
  if (type.startsWith('.')) return type.slice(1).toUpperCase();
  const [, family] = /^(image|video|audio|text)\/\*$/.exec(type) ?? [];
  if (family) return kinds[family as keyof typeof kinds];
  return EXTENSIONS.get(type) ?? OWN_NAME.exec(type)?.[1]?.toUpperCase() ?? kinds.other;
}

/** Returns the types of an `accept` list as a text: `image/*,.pdf` as `images or PDF`. Empty if every file is allowed. */
export function acceptedTypes(accept: string, messages: Messages, { anyOf }: Format): string {
  const types = rulesOf(accept);
  if (types.includes('*/*')) return '';
  const names = new Set(types.map((type) => nameOf(type, messages)));
  // At the end, where the sentence needs it.
  if (names.delete(messages.kinds.other)) names.add(messages.kinds.other);
  return anyOf([...names]);
}
