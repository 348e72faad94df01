// Counts for the texts of a locale: numbers, plural forms and seconds, all from `Intl`. The locales share this module.

/** Formats counts in one language. */
export interface Counts<Rule extends Intl.LDMLPluralRule> {
  /** Returns a number such as `1,200`. */
  number(count: number): string;
  /** Returns seconds such as `7 sec`. */
  seconds(count: number): string;
  /** Returns a function that selects the plural form for a count, and replaces the `#` in it by the number. */
  plural(forms: Readonly<Record<Rule | 'other', string>>): (count: number) => string;
}

/**
 * Returns the functions for a language. `Rule` has the plural forms of the language, so that no text can leave one out.
 * `preposition` is the word after whole millions in Romance languages, as in `1.000.000 de archivos`.
 */
export function countsIn<Rule extends Intl.LDMLPluralRule = 'one' | 'other'>(
  locale: string,
  preposition?: string,
): Counts<Rule> {
  const rules = new Intl.PluralRules(locale);
  const number = (count: number): string => count.toLocaleString(locale);
  const formatCount = (count: number): string =>
    preposition && rules.select(count) === 'many' ? `${number(count)} ${preposition}` : number(count);
  return {
    number,
    seconds: (count) => count.toLocaleString(locale, { style: 'unit', unit: 'second', unitDisplay: 'short' }),
    plural: (forms) => (count) =>
      (forms[rules.select(count) as Rule] ?? forms.other).replace('#', formatCount(count)),
  };
}

/** Isolates a name or a size in right-to-left text, so that its digits and letters stay in order. */
export const isolate = (text: string): string => `\u2068${text}\u2069`;

/** Adds a full stop, unless the text ends with an abbreviation such as `Min.`. */
export const withFullStop = (text: string): string => (text.endsWith('.') ? text : `${text}.`);

type Sentence = (count: number) => string;

/**
 * Returns the announcement after the last upload: `doneSentence` unless there are only failed or canceled files, otherwise
 * `endedText`; then the sentences about failed and canceled files.
 */
export const describeEnd =
  (
    doneSentence: Sentence,
    endedText: string,
    failedSentence: Sentence,
    canceledSentence: Sentence,
    space = ' ',
  ) =>
  (doneCount: number, failedCount: number, canceledCount: number): string =>
    [
      doneCount > 0 || failedCount + canceledCount === 0 ? doneSentence(doneCount) : endedText,
      failedCount > 0 ? failedSentence(failedCount) : '',
      canceledCount > 0 ? canceledSentence(canceledCount) : '',
    ]
      .filter(Boolean)
      .join(space);
