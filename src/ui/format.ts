// Formats sizes, speeds and durations for a locale.

const SIZE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** Formatting functions for one locale. */
export interface Format {
  /** Returns a size such as `12.4 MB`, in powers of 1,000 as operating systems show sizes. */
  size(bytes: number): string;
  /** Returns a speed such as `8.2 MB/s`. */
  speed(bytesPerSecond: number): string;
  /**
   * Returns a duration such as `25 sec`, `4 min` or `2 hr`. Returns `undefined` below ten seconds, because the number would
   * flicker.
   */
  duration(ms: number): string | undefined;
  /** Returns a list such as `image, PDF, or XLSX`. */
  anyOf(texts: readonly string[]): string;
  /** What stands between the items of an enumeration. */
  readonly comma: string;
  /** Returns a share such as `26%`, rounded down, so that 100% means complete. */
  percent(share: number): string;
}

/** Languages with another comma. */
const COMMAS: Readonly<Record<string, string>> = { ar: '، ', ja: '、', zh: '、' };

const formats = new Map<string, Format>();

/** Returns the formatting functions for a locale. Uses English if the locale is invalid. */
export function createFormat(locale: string): Format {
  const cached = formats.get(locale);
  if (cached) return cached;
  try {
    new Intl.Locale(locale);
  } catch {
    return createFormat('en');
  }
  const cache: Record<string, Intl.NumberFormat> = {};
  const display = (name: string): 'short' | 'narrow' | 'long' => {
    if (name === 'byte') return 'long';
    // Arabic spells only kilobytes out in its short form.
    const zero = (unitDisplay: 'short' | 'long'): string =>
      new Intl.NumberFormat(locale, { style: 'unit', unit: 'kilobyte', unitDisplay }).format(0);
    return name.startsWith('kilobyte') && zero('short') === zero('long') ? 'narrow' : 'short';
  };
  const unit = (name: string, digits: number): Intl.NumberFormat =>
    (cache[name + digits] ??= new Intl.NumberFormat(locale, {
      style: 'unit',
      unit: name,
      unitDisplay: display(name),
      maximumFractionDigits: digits,
    }));
  const sized = (bytes: number, suffix: string): string => {
    // NaN would lead to an invalid unit, for which `Intl` throws.
    const shownBytes = bytes > 0 ? bytes : 0;
    const power =
      shownBytes < 1 ? 1 : shownBytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(shownBytes) / 3));
    const value = shownBytes / 1000 ** power;
    return unit(SIZE_UNITS[power] + suffix, power > 0 && value < 100 ? 1 : 0).format(value);
  };
  const share = new Intl.NumberFormat(locale, { style: 'percent' });
  const format: Format = {
    size: (bytes) => sized(bytes, ''),
    speed: (bytesPerSecond) => sized(bytesPerSecond, '-per-second'),
    duration: (ms) => {
      const seconds = ms / 1000;
      if (seconds < 10) return undefined;
      if (seconds <= 55) return unit('second', 0).format(Math.ceil(seconds / 5) * 5);
      if (seconds < 3570) return unit('minute', 0).format(Math.round(seconds / 60));
      return unit('hour', seconds < 36_000 ? 1 : 0).format(seconds / 3600);
    },
    anyOf: (texts) => new Intl.ListFormat(locale, { type: 'disjunction' }).format(texts),
    comma: COMMAS[new Intl.Locale(locale).language] ?? ', ',
    percent: (value) => share.format(Math.floor(Math.min(1, value) * 100 + 1e-9) / 100),
  };
  formats.set(locale, format);
  return format;
}
