// Names of files and of types: how they are shown and compared, and the next name to try if a folder has the same one.

/**
 * Returns a text of a user or of the service without invisible characters, which could make `gpj.exe` look like `exe.jpg`: control
 * and format characters, except joiners between letters that are not ASCII, which some scripts need.
 */
export const shownText = (text: string): string =>
  text.replace(/(?![\u200c\u200d](?<=[^\0-\x7f\p{Cf}].)[^\0-\x7f\p{Cf}])[\p{Cc}\p{Cf}\u2028\u2029]/gu, '');

/**
 * Returns the next name to try: `report (2).pdf` after `report.pdf`, then `report (3).pdf`. In a path, only the last part changes.
 */
export function nextName(name: string): string {
  const dot = name.lastIndexOf('.');
  const end = dot > name.lastIndexOf('/') + 1 ? dot : name.length;
  const stem = name.slice(0, end);
  const [, baseName = stem, count = '1'] = /^(.+) \((\d{1,4})\)$/s.exec(stem) ?? [];
  return `${baseName} (${Number(count) + 1})${name.slice(end)}`;
}

/** Returns `path` with `name` as its last part; unchanged if `name` is the file's own name. */
export const pathUnder = (name: string, ownName: string, path: string): string =>
  name === ownName ? path : path.slice(0, path.lastIndexOf('/') + 1) + name;

/** Returns a media type in lower case, without its parameters. */
export const plainType = (type: string): string => type.replace(/;.*/s, '').trim().toLowerCase();

/** Returns the extensions and media types in an `accept` list. */
export const rulesOf = (accept: string): string[] => accept.split(',').map(plainType).filter(Boolean);
