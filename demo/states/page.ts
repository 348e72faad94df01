// Every state of the element, in the look that the visitor selects.

import type { Messages } from '../../src/core/messages.ts';
import { ENGLISH } from '../../src/locales/en.ts';
import { addThemes, applyLook } from '../look.ts';
import { showState, TITLES, translate } from './states.ts';
import { WidgetFixture } from './widget-fixture.ts';

const LOCALES = import.meta.glob<Messages>(['../../src/locales/*.ts', '!**/en*.ts'], { import: 'default' });
const form = document.querySelector<HTMLFormElement>('#look') as HTMLFormElement;
const place = document.querySelector('#states') as Element;
const [theme, , language, direction] = form.querySelectorAll('select');
const nameOf = (path: string): string => /([\w-]+)\.ts$/.exec(path)?.[1] ?? '';

const fixtures = Object.entries(TITLES).map(([state, title]) => {
  const section = document.createElement('section');
  const heading = Object.assign(document.createElement('h2'), { textContent: title, id: state });
  const fixture = new WidgetFixture();
  section.setAttribute('aria-labelledby', state);
  showState(fixture, state);
  section.append(heading, fixture);
  place.append(section);
  return fixture;
});

async function apply(): Promise<void> {
  const look = new FormData(form);
  const text = (name: string): string => String(look.get(name));
  const path = Object.keys(LOCALES).find((path) => nameOf(path) === text('lang'));
  const messages = (path && (await LOCALES[path]?.())) || ENGLISH;
  await applyLook(look);
  // Other values were selected meanwhile.
  if ([...look].some(([name, value]) => new FormData(form).get(name) !== value)) return;
  for (const fixture of fixtures) {
    fixture.setAttribute('density', text('density'));
    fixture.lang = text('lang');
    fixture.style.inlineSize = `${text('width')}px`;
    translate(fixture, messages);
    fixture.requestUpdate();
  }
}

if (theme) addThemes(theme);
for (const path of Object.keys(LOCALES)) language?.add(new Option(nameOf(path)));
form.addEventListener('input', ({ target }) => {
  if (direction && language && target === language)
    direction.value = /^(ar|he)$/.test(language.value) ? 'rtl' : 'ltr';
  void apply();
});
await apply();
