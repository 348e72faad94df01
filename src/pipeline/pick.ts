// First verb: which of the picked files are taken, and why the others are not. It reads nothing of their content.

import type { ErrorCode } from '../core/errors.ts';
import type { PickedFile } from '../core/types.ts';

export interface PickLimits {
  /** As the `accept` attribute of a file input: extensions, media types, `image/*`; empty takes all. */
  readonly accept: string;
  readonly maxFiles: number;
  readonly maxFileSizeBytes: number;
  readonly refuseEmpty: boolean;
}

export interface Refused {
  readonly picked: PickedFile;
  readonly code: ErrorCode;
  readonly limit?: number | string;
}

/** Why a file is refused; `undefined` where it is taken. `takenCount` files are in the list already. */
export function refusal(
  picked: PickedFile,
  limits: PickLimits,
  takenCount: number,
): Omit<Refused, 'picked'> | undefined {
  const { file } = picked;
  if (limits.accept && !matchesAccept(file, limits.accept))
    return { code: 'file-type-refused', limit: limits.accept };
  if (file.size > limits.maxFileSizeBytes) return { code: 'file-too-large', limit: limits.maxFileSizeBytes };
  if (file.size === 0 && limits.refuseEmpty) return { code: 'file-empty' };
  if (takenCount >= limits.maxFiles) return { code: 'too-many-files', limit: limits.maxFiles };
  return undefined;
}

/** Whether a file fits an `accept` list, by name and by the media type that the browser told. */
export function matchesAccept(
  file: { readonly name: string; readonly type: string },
  accept: string,
): boolean {
  const rules = accept
    .split(',')
    .map((rule) => rule.trim().toLowerCase())
    .filter(Boolean);
  const name = file.name.toLowerCase();
  const type = file.type.toLowerCase().split(';', 1)[0] ?? '';
  return (
    rules.length === 0 ||
    rules.some((rule) => {
      if (rule.startsWith('.')) return name.endsWith(rule);
      if (rule === '*/*' || rule === '*') return true;
      return rule.endsWith('/*') ? type.startsWith(rule.slice(0, -1)) : type === rule;
    })
  );
}
