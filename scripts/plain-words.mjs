// Checks comments, sentences in strings, documentation and messages for words that docs/glossary.md replaces. Also finds comments
// that are too wide.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { filesUnder } from './files.mjs';

const WORDS = [
  [/\bwhoever\b/i, 'the caller, the user'],
  [/\b(?:some|no)body\b/i, 'a user, no user, another script'],
  [/\bthe person\b/i, 'the user'],
  [/\bgo(?:es)? on\b/i, 'continue, resume'],
  [/\b(?:is|are|was|unless|be) told\b/i, 'is called with, is notified, by default'],
  [/\bhears?\b/i, 'is notified of'],
  [/\banew\b/i, 'again, from the start'],
  [/\bnought\b/i, 'zero'],
  [/\bfor patience\b|\bpatient\b/i, 'Retry-After, backoff'],
  [/\bknows (?:no|nothing|neither|not)\b/i, 'does not depend on'],
  [/\bbegun\b/i, 'started'],
  [/\bcomes? to an end\b/i, 'end'],
  [/\banswers? a promise\b/i, 'returns a promise'],
  [/\b(?:true|false|undefined) where\b/i, 'if'],
];

const COMMENT_COLUMNS = 132;
const DOCUMENTS = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const FOLDERS = ['demo', 'docs', 'scripts', 'src', 'test'];
const EXCLUDED = [
  'docs/glossary.md', // contains the words on purpose
  'scripts/plain-words.mjs',
  'test/package/check.test.ts',
];

/** Returns the comment in a line of source code; empty if there is none. */
function commentIn(line) {
  if (/^\s*(?:\/\/|\/?\*)/.test(line)) return line;
  return /\s\/\/ .*$/.exec(line)?.[0] ?? '';
}

/** Returns the text to check in a line. In source code, that is comments, test titles, and strings of three words or more. */
function readable(line, isSource) {
  if (!isSource || /^\s*(?:describe|it|test)\(/.test(line)) return line;
  const strings = line.replace(/\$\{[^}]*\}/g, '').match(/(['"`])(?:\\.|(?!\1).)*?\1/g) ?? [];
  return [commentIn(line), ...strings.filter((text) => / \S+ /.test(text))].join(' ');
}

/** Returns all words to replace in a text, as `{line, word, instead}`. */
export function wordsIn(text, isSource) {
  return text.split('\n').flatMap((line, index) => {
    const shown = readable(line, isSource);
    return WORDS.flatMap(([pattern, instead]) => {
      const [word] = pattern.exec(shown) ?? [];
      return word ? [{ line: index + 1, word, instead }] : [];
    });
  });
}

/** Returns the numbers of lines with comments that are too wide. */
export function wideComments(text) {
  return text
    .split('\n')
    .flatMap((line, index) => (line.length > COMMENT_COLUMNS && commentIn(line) ? [index + 1] : []));
}

/** Returns all problems in a project, as `file:line: sentence`. */
export function plainWords(root) {
  const named = DOCUMENTS.filter((name) => existsSync(join(root, name)));
  const files = [...named, ...filesUnder(root, FOLDERS, /\.(?:[cm]?[jt]s|md|html|css)$/)].filter(
    (name) => !EXCLUDED.some((path) => name.startsWith(path)),
  );
  return files.flatMap((file) => {
    const isSource = !/\.md$|messages\.ts$/.test(file);
    const text = readFileSync(join(root, file), 'utf8');
    const words = wordsIn(text, isSource).map(
      ({ line, word, instead }) => `${file}:${line}: write "${instead}" instead of "${word}"`,
    );
    const wide = /\.[cm]?[jt]s$/.test(file) ? wideComments(text) : [];
    return [
      ...words,
      ...wide.map((line) => `${file}:${line}: wrap the comment at ${COMMENT_COLUMNS} columns`),
    ];
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const found = plainWords(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)));
  for (const line of found) console.log(line);
  process.exitCode = found.length ? 1 : 0;
}
