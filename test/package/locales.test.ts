// The locales of the package: complete, with the plural forms of their language, small, and listed in docs/i18n.md.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { ERROR_CODES, isRetryable } from '../../src/core/error-codes.ts';
import type { LoginMessages } from '../../src/core/messages.ts';
import { ENGLISH_LOGIN } from '../../src/locales/en-login.ts';
import { createFormat } from '../../src/ui/format.ts';
import { printSize } from './sizes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const COUNTS = [0, 1, 2, 3, 5, 11, 21, 100, 1000, 1_000_000];
/** Texts that are the same as in English: loanwords, and names with nothing to translate. */
const LOANWORDS = ['Password', 'Passkey', 'Code', 'images'];

type Path = readonly string[];
type Text = string | ((...args: never[]) => string);

/** All locales except English, which no page loads as a locale. */
const names = readdirSync(join(root, 'src/locales'))
  .map((file) => basename(file, '.ts'))
  .filter((name) => !/^en\b/.test(name));
const locales = await Promise.all(
  names.map(async (name): Promise<readonly [string, LoginMessages]> => {
    const { default: texts } = await import(`../../src/locales/${name}.ts`);
    return [name, texts];
  }),
);

/** Returns all texts, each with its path such as `phases.done`. */
const textsIn = (texts: object, path: Path = []): (readonly [path: string, text: Text])[] =>
  Object.entries(texts).flatMap(([name, text]) =>
    typeof text === 'object' ? textsIn(text, [...path, name]) : [[[...path, name].join('.'), text as Text]],
  );

const [SIZE, NAME, SENTENCE, PERCENT] = ['12 MB', '2026 a.pdf', 'Why.', '45%'];
const [SECONDS, MINUTE, HOUR] = [25_000, 60_000, 3_600_000];

/** Returns what each text with arguments says for `count`. Durations are written as in `locale`. */
function composed({ locale, ...texts }: LoginMessages, count: number): Record<string, string> {
  const format = createFormat(locale);
  const durations = [SECONDS, MINUTE, HOUR, 2 * HOUR].map((ms) => format.duration(ms) ?? assert.fail());
  const said: Record<string, string> = {
    upTo: texts.upTo(SIZE),
    uploadAs: texts.uploadAs(NAME),
    actionOn: texts.actionOn(texts.pause, NAME),
    progressOf: texts.progressOf(NAME),
    unsendable: texts.unsendable(NAME),
    sizeOf: texts.sizeOf(SIZE, SIZE),
    limit: texts.limit(texts.atMost(count)),
    soonCooling: texts.coolingText(undefined),
    doneOf: texts.doneOf(1, count),
    announceSums: texts.announceSums(PERCENT, count, count, undefined),
    announcePaused: texts.announcePaused(count),
    announceFinished: texts.announceFinished(count, 0, 0),
    announceAllFailed: texts.announceFinished(0, count, 0),
    announceAllCanceled: texts.announceFinished(0, 0, count),
    announceMixed: texts.announceFinished(count, count, count),
    announceUndo: texts.announceUndo(texts.undoableCancel(count)),
    announceFailed: texts.announceFailed(count, NAME, SENTENCE),
    announceRejected: texts.announceRejected(count, NAME, SENTENCE),
    signInWith: texts.signInWith('Corp'),
    sentTo: texts.sentTo('+1 ···42'),
    waitNumber: texts.waitNumber('42'),
    sendAgainIn: texts.sendAgainIn(count),
    seconds: texts.seconds(count),
  };
  for (const duration of durations) {
    said[`retryingIn ${duration}`] = texts.retryingIn(duration);
    said[`left ${duration}`] = texts.left(duration);
    said[`coolingText ${duration}`] = texts.coolingText(duration);
    said[`sums ${duration}`] = texts.announceSums(PERCENT, count, count, texts.left(duration));
  }
  for (const name of [
    'atMost',
    'reading',
    'emptyFolders',
    'undoableCancel',
    'announceResumed',
    'announceRetrying',
    'announceRestored',
    'start',
    'uploading',
    'chooseAllAgain',
    'ready',
    'allUploaded',
    'failed',
    'rejected',
    'more',
    'attemptsLeft',
  ] as const)
    said[name] = texts[name](count);
  return said;
}

/** Counts from 0 to 200, and a million, by plural form of the language. Romance languages have a form for whole millions. */
function countsByForm(locale: string): Map<Intl.LDMLPluralRule, number[]> {
  const rules = new Intl.PluralRules(locale);
  const forms = new Map<Intl.LDMLPluralRule, number[]>();
  for (const count of [...Array(201).keys(), 1_000_000]) {
    const form = rules.select(count);
    forms.set(form, [...(forms.get(form) ?? []), count]);
  }
  return forms;
}

const withoutDigits = (text: string): string => text.replace(/[\p{Nd}.,\s\u00a0\u202f]+/gu, ' ');

/** Bytes of a locale as an entry of its own, minified and compressed. The helpers that all locales share are not part of it. */
function bytesOf(entry: string, external: string[]): number {
  const { outputFiles } = buildSync({
    entryPoints: [join(root, entry)],
    bundle: true,
    minify: true,
    charset: 'utf8',
    format: 'esm',
    write: false,
    external,
  });
  return gzipSync(outputFiles[0]?.contents ?? assert.fail(), { level: 9 }).length;
}

test('There are 16 locales besides English', () => {
  const wanted = 'ar de es fr he hi it ja ko nl pl pt-BR sv tr uk zh-CN'.split(' ');
  assert.deepEqual(names.sort(), wanted);
});

for (const [name, texts] of locales)
  describe(`The locale ${name}`, () => {
    const all = new Map(textsIn(texts));

    test('has each text of the uploader and of the sign-in form, and no other', () => {
      const english = textsIn(ENGLISH_LOGIN);
      const kinds = (list: Iterable<readonly [string, Text]>): string[] =>
        [...list].map(([path, text]) => `${path}: ${typeof text}`).sort();
      assert.deepEqual(kinds(all), kinds(english));
      assert.equal(texts.locale, name);
    });

    test('has no text in English, and none that is empty', () => {
      for (const [path, text] of textsIn(ENGLISH_LOGIN)) {
        const own = all.get(path);
        if (typeof own !== 'string' || path === 'locale') continue;
        assert.match(own, /^\S.*\S$/s, path);
        if (!LOANWORDS.includes(own)) assert.notEqual(own, text, path);
        const ends = /[.。।…?？]$/;
        if (/\.$/.test(text as string)) assert.match(own, ends, path);
      }
    });

    // A row that waits shows the first sentence only. The next one says what the user can do.
    test('has two sentences for each error that is retried', () => {
      for (const code of ERROR_CODES.filter((code) => isRetryable({ code }) && code !== 'offline'))
        assert.match(texts[code], /^[^.。।]{3,}[.。।]\s*[^.。।]{3,}[.。।]$/, code);
    });

    test('has a word for failed uploads that names no cause', () => {
      for (const code of ERROR_CODES) assert.ok(!texts[code].startsWith(texts.phases.failed), code);
    });

    test('composes whole texts for every count', () => {
      for (const count of COUNTS)
        for (const [key, text] of Object.entries(composed(texts, count))) {
          assert.doesNotMatch(
            text,
            /\bundefined\b|NaN|\bnull\b|\[object|[#{}$]|\.\.|。。| {2}|^\s|\s$/,
            `${key} ${count}`,
          );
          assert.match(text, /[\p{L}\p{N}]/u, key);
        }
    });

    test('writes numbers as its language does', () => {
      for (const key of ['ready', 'atMost', 'failed', 'uploading', 'chooseAllAgain'] as const)
        assert.ok(texts[key](1_234_567).includes((1_234_567).toLocaleString(name)), key);
    });

    test('has a different text for each plural form', () => {
      const shapes = new Map<string, string>();
      for (const [form, counts] of countsByForm(name)) {
        // Not the first one, because some texts leave out a count of 0.
        const shape = withoutDigits(Object.values(composed(texts, counts.at(-1) ?? 0)).join('\n'));
        assert.equal(shapes.get(shape), undefined, `${form} is written as ${shapes.get(shape)}`);
        shapes.set(shape, form);
      }
    });

    test('prints its size', (t) => {
      const file = `src/locales/${name}.ts`;
      const sizeBytes = bytesOf(file, ['*/plurals.ts']);
      printSize(t, file, sizeBytes);
      assert.ok(sizeBytes > 2000);
    });
  });

/** Texts for counts, as native speakers write them. */
const PLURALS: Readonly<Record<string, readonly (readonly [count: number, text: string])[]>> = {
  ar: [
    [0, 'رفع 0 ملف'],
    [1, 'رفع ملف واحد'],
    [2, 'رفع ملفين'],
    [3, 'رفع 3 ملفات'],
    [11, 'رفع 11 ملفًا'],
    [100, 'رفع 100 ملف'],
  ],
  de: [
    [1, '1 Datei hochladen'],
    [2, '2 Dateien hochladen'],
    [1000, '1.000 Dateien hochladen'],
  ],
  es: [
    [1, 'Subir 1 archivo'],
    [2, 'Subir 2 archivos'],
    [1_000_000, 'Subir 1.000.000 de archivos'],
  ],
  fr: [
    [0, 'Importer 0 fichier'],
    [2, 'Importer 2 fichiers'],
    [1_000_000, 'Importer 1 000 000 de fichiers'],
  ],
  he: [
    [1, 'העלאה של קובץ אחד'],
    [2, 'העלאה של שני קבצים'],
    [3, 'העלאה של 3 קבצים'],
  ],
  it: [
    [1, 'Carica 1 file'],
    [1_000_000, 'Carica 1.000.000 di file'],
  ],
  pl: [
    [1, 'Prześlij 1 plik'],
    [2, 'Prześlij 2 pliki'],
    [5, 'Prześlij 5 plików'],
    [12, 'Prześlij 12 plików'],
    [22, 'Prześlij 22 pliki'],
  ],
  'pt-BR': [
    [0, 'Enviar 0 arquivo'],
    [2, 'Enviar 2 arquivos'],
    [1_000_000, 'Enviar 1.000.000 de arquivos'],
  ],
  tr: [[5, '5 dosyayı yükle']],
  uk: [
    [1, 'Завантажити 1 файл'],
    [2, 'Завантажити 2 файли'],
    [5, 'Завантажити 5 файлів'],
    [11, 'Завантажити 11 файлів'],
    [21, 'Завантажити 21 файл'],
  ],
};

test('Plural forms are those of the language', () => {
  const plain = (text: string): string =>
    text.replace(/[٠-٩]/g, (digit) => `${'٠١٢٣٤٥٦٧٨٩'.indexOf(digit)}`).replace(/[\u00a0\u202f]/g, ' ');
  for (const [name, texts] of locales)
    for (const [count, text] of PLURALS[name] ?? []) assert.equal(plain(texts.start(count)), text);
});

/** The time left for one minute and one hour, as native speakers write it. */
const LEFT: Readonly<Record<string, readonly [minute: string, hour: string]>> = {
  ar: ['الوقت المتبقي: 1 د', 'الوقت المتبقي: 1 س'],
  de: ['noch 1 Min.', 'noch 1 Std.'],
  es: ['queda 1 min', 'queda 1 h'],
  fr: ['il reste 1 min', 'il reste 1 h'],
  he: ['זמן שנותר: 1 דק׳', 'זמן שנותר: 1 שעה'],
  hi: ['1 मि॰ बाकी', '1 घं॰ बाकी'],
  it: ['manca 1 min', 'manca 1 h'],
  ja: ['残り 1 分', '残り 1 時間'],
  ko: ['1분 남음', '1시간 남음'],
  nl: ['nog 1 min', 'nog 1 uur'],
  pl: ['pozostało: 1 min', 'pozostało: 1 godz.'],
  'pt-BR': ['resta 1 min', 'resta 1 h'],
  sv: ['1 min kvar', '1 tim kvar'],
  tr: ['1 dk. kaldı', '1 sa. kaldı'],
  uk: ['залишилося: 1 хв', 'залишилося: 1 год'],
  'zh-CN': ['剩余时间：1分钟', '剩余时间：1小时'],
};

test('The time left is correct for one minute and for one hour', () => {
  const spaced = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ');
  for (const [name, texts] of locales) {
    const { duration } = createFormat(name);
    const left = [MINUTE, HOUR].map((ms) => spaced(texts.left(duration(ms) ?? assert.fail())));
    assert.deepEqual(left, LEFT[name], name);
  }
});

test('Texts from right to left isolate names, which can start with a digit', () => {
  for (const [name, texts] of locales.filter(([name]) => ['ar', 'he'].includes(name)))
    for (const text of [
      texts.uploadAs(NAME),
      texts.actionOn(texts.pause, NAME),
      texts.progressOf(NAME),
      texts.signInWith(NAME),
      texts.sentTo(NAME),
    ])
      assert.ok(text.includes(`\u2068${NAME}\u2069`), `${name}: ${text}`);
});

test('docs/i18n.md lists the locales with their sizes', () => {
  const doc = readFileSync(join(root, 'docs/i18n.md'), 'utf8');
  for (const name of names) {
    const [, written] = new RegExp(`^\\| \`${name}\` \\|.*\\| ([\\d.]+) kB \\|$`, 'm').exec(doc) ?? [];
    const bytes = bytesOf(`src/locales/${name}.ts`, ['*/plurals.ts']);
    // Versions of zlib compress slightly differently, and the table is rounded to 0.1 kB.
    assert.ok(
      Math.abs(Number(written) * 1000 - bytes) <= 150,
      `${name} has ${bytes} bytes, not ${written} kB`,
    );
  }
  const shared = bytesOf('src/core/plurals.ts', []);
  assert.ok(shared <= 500, `${shared} bytes for plurals.ts`);
});
