/// <reference types="vite/client" />
// The themes of the package, and the other settings of the page's look.

const THEMES = import.meta.glob<string>('../src/themes/*.css', { query: '?raw', import: 'default' });
const sheet = new CSSStyleSheet();
let newest = 0;

const nameOf = (path: string): string => /([\w-]+)\.css$/.exec(path)?.[1] ?? '';

/** Adds the themes to a `<select>`. */
export function addThemes(select: HTMLSelectElement): void {
  for (const path of Object.keys(THEMES)) select.add(new Option(nameOf(path), path));
  select.value = Object.keys(THEMES).find((path) => nameOf(path) === 'default') ?? '';
}

/** Applies a theme to all elements of the page, and color scheme and direction to the page. */
export async function applyLook(look: FormData): Promise<void> {
  newest += 1;
  const own = newest;
  const text = (name: string): string => String(look.get(name) ?? '');
  document.documentElement.style.colorScheme = text('scheme');
  document.documentElement.dir = text('dir');
  const theme = (await THEMES[text('theme')]?.()) ?? '';
  if (own !== newest) return; // Another theme was selected meanwhile.
  // Pages that show states have an element of their own.
  sheet.replaceSync(theme.replace('secure-uploader,', 'secure-uploader, widget-fixture,'));
  if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
}
