// A locale that no language has, made from the English texts. It shows which text is hard-coded, and whether longer texts fit.

/** Returns the text to show instead of `text`. `args` are those of a text with arguments. */
type Write = (text: string, args?: readonly unknown[]) => string;

/** Returns `texts` with each text replaced by what `write` returns for it. The locale stays the same. */
export function rewritten<T extends object>(texts: T, write: Write): T {
  const entries = Object.entries(texts).map(([name, text]): [string, unknown] => {
    if (name === 'locale') return [name, text];
    if (typeof text === 'string') return [name, write(text)];
    if (typeof text === 'object') return [name, rewritten(text, write)];
    return [name, (...args: unknown[]) => write(text(...args), args)];
  });
  return Object.fromEntries(entries) as T;
}

/** Puts each text between ⟦ and ⟧. Of a text with arguments, it keeps only these, because they can be texts themselves. */
export const marked: Write = (text, args) =>
  args ? `⟦${args.filter((arg) => arg !== undefined).join(' ')}·⟧` : `⟦${text}⟧`;

const ACCENTED: Readonly<Record<string, string>> = { a: 'å', e: 'é', i: 'ï', n: 'ñ', o: 'ö', u: 'ü', y: 'ÿ' };

/** Makes each text longer: a short one by 100 %, a long one by 40 %, as translations of English are. */
export const longer: Write = (text) => {
  const words = text.replace(/[aeinouy]/g, (letter) => ACCENTED[letter] ?? letter).split(' ');
  const more = Math.ceil(words.length * (text.length <= 20 ? 1 : 0.4));
  return `⟦${[...words, ...words.slice(0, more)].join(' ')}⟧`;
};
