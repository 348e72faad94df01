// Accepts or rejects picked files by name, type, size and number. Does not read the content of the files.

import { plainType, rulesOf } from '../core/names.ts';
import type { Settings } from '../core/settings-table.ts';
import type { PickedFile, Rejection } from '../core/types.ts';
import { MAX_FILE_BYTES } from './plan.ts';

export interface PickLimits {
  /** Accepted files, as in `<input accept>`: extensions, media types, `image/*`. An empty string accepts all files. */
  readonly accept: string;
  readonly maxFiles: number;
  readonly maxFileSizeBytes: number;
  readonly refuseEmpty: boolean;
}

export const limitsOf = ({ accept, maxFiles, maxFileSize, multiple, profile }: Settings): PickLimits => ({
  accept,
  maxFiles: multiple ? maxFiles : 1,
  maxFileSizeBytes: Math.min(maxFileSize, MAX_FILE_BYTES),
  refuseEmpty: profile.emptyFile === 'refuse',
});

export type Refusal = Pick<Rejection, 'code' | 'limit'>;

/**
 * Returns the reason why a file is rejected; `undefined` if the file is accepted. `listedCount` files already count towards
 * `maxFiles`.
 */
export function refusal(
  { file }: Pick<PickedFile, 'file'>,
  limits: PickLimits,
  listedCount: number,
): Refusal | undefined {
  if (limits.accept && !matchesAccept(file, limits.accept))
    return { code: 'file-type-refused', limit: limits.accept };
  if (file.size > limits.maxFileSizeBytes) return { code: 'file-too-large', limit: limits.maxFileSizeBytes };
  if (file.size === 0 && limits.refuseEmpty) return { code: 'file-empty' };
  if (listedCount >= limits.maxFiles) return { code: 'too-many-files', limit: limits.maxFiles };
  return undefined;
}

/**
 * Extensions by media type. Systems report other types for some of these files, or none. The prefixes `x-` and `vnd.` are left out,
 * because pages and systems disagree about them.
 */
const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  'application/pdf': ['pdf'],
  'application/zip': ['zip'],
  'application/zip-compressed': ['zip'],
  'application/json': ['json'],
  'application/xml': ['xml'],
  'application/gzip': ['gz'],
  'application/7z-compressed': ['7z'],
  'application/rar': ['rar'],
  'application/rar-compressed': ['rar'],
  'application/msword': ['doc'],
  'application/ms-excel': ['xls'],
  'application/ms-powerpoint': ['ppt'],
  'application/openxmlformats-officedocument.wordprocessingml.document': ['docx'],
  'application/openxmlformats-officedocument.spreadsheetml.sheet': ['xlsx'],
  'application/openxmlformats-officedocument.presentationml.presentation': ['pptx'],
  'text/csv': ['csv'],
  'text/xml': ['xml'],
  'text/plain': ['txt', 'log'],
  'text/markdown': ['md'],
  'image/jpeg': ['jpg', 'jpeg', 'jfif'],
  'image/png': ['png'],
  'image/gif': ['gif'],
  'image/webp': ['webp'],
  'image/heic': ['heic'],
  'image/heif': ['heif'],
  'image/avif': ['avif'],
  'image/tiff': ['tif', 'tiff'],
  'image/svg+xml': ['svg'],
  'image/adobe-dng': ['dng'],
  'video/mp4': ['mp4', 'm4v'],
  'video/quicktime': ['mov'],
  'video/matroska': ['mkv'],
  'video/webm': ['webm'],
  'video/msvideo': ['avi'],
  'video/mp2t': ['mts'],
  'audio/mpeg': ['mp3'],
  'audio/mp4': ['m4a'],
  'audio/wav': ['wav'],
  'audio/flac': ['flac'],
  'audio/ogg': ['ogg', 'opus'],
  'audio/aac': ['aac'],
};

/** Returns the known extensions of a media type such as `image/heic` or `image/*`. */
function extensionsOf(type: string): readonly string[] {
  const plain = type.replace(/\/(x-|vnd\.)(?!\*)/, '/');
  const [top, subtype = ''] = plain.split('/');
  return Object.entries(EXTENSIONS).flatMap(([known, extensions]) => {
    const isOfTop = known.startsWith(`${top}/`);
    // Pages also write `image/jpg`.
    const isMeant = subtype === '*' || known === plain || extensions.includes(subtype);
    return isOfTop && isMeant ? extensions : [];
  });
}

/** True if the name or the media type of the file matches the `accept` list. The name counts if its extension is known. */
export function matchesAccept(
  file: { readonly name: string; readonly type: string },
  accept: string,
): boolean {
  const rules = rulesOf(accept);
  const name = file.name.toLowerCase();
  const type = plainType(file.type);
  return (
    rules.length === 0 ||
    rules.some((rule) => {
      if (rule.startsWith('.')) return name.endsWith(rule);
      if (rule === '*/*' || rule === '*') return true;
      if (rule.endsWith('/*') ? type.startsWith(rule.slice(0, -1)) : type === rule) return true;
      return extensionsOf(rule).some((extension) => name.endsWith(`.${extension}`));
    })
  );
}
