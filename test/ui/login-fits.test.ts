// The sign-in form in narrow containers, with large fonts and longer texts: nothing overflows, and the font size of inputs is at
// least 16 px.

import { expect } from '@open-wc/testing';
import { render } from 'lit';
import { ENGLISH_LOGIN } from '../../src/locales/en-login.ts';
import { loginStyles } from '../../src/ui/styles/login-styles.ts';
import { loginStep } from '../../src/ui/views/login-step.ts';
import { STEPS, viewOf } from './login-cases.ts';
import { longer, rewritten } from './pseudo.ts';

const WIDTHS_PX = [280, 320, 360];
/** Font sizes: smaller than the browser's default, 100 % and 200 %. */
const FONTS_PX = [12, 16, 32];
const TEXTS = { English: ENGLISH_LOGIN, longer: rewritten(ENGLISH_LOGIN, longer) };
/** Safari on iOS zooms in when the user focuses an input with smaller text. */
const LEAST_PX = 16;

let page: HTMLElement;
let form: HTMLElement;

beforeEach(() => {
  page = document.createElement('div');
  const style = document.createElement('style');
  style.textContent = loginStyles.cssText;
  form = document.createElement('secure-uploader-login');
  page.append(style, form);
  document.body.append(page);
});
afterEach(() => page.remove());

/** Yields each step of the form at each width and font size, and with longer texts, with a description. */
function* looks(): Generator<string> {
  for (const [kind, messages] of Object.entries(TEXTS))
    for (const [step, [state]] of Object.entries(STEPS)) {
      render(loginStep(viewOf({ ...state, messages }, () => () => undefined)), form);
      for (const font of FONTS_PX)
        for (const width of WIDTHS_PX) {
          page.style.fontSize = `${font}px`;
          page.style.inlineSize = `${width}px`;
          yield `${step}, ${kind}, ${width} px, text of ${font} px`;
        }
    }
}

describe('the sign-in form', () => {
  it('is never wider than its place', () => {
    const wide: string[] = [];
    for (const look of looks()) {
      const { right } = page.getBoundingClientRect();
      for (const element of form.querySelectorAll('*')) {
        const range = document.createRange();
        range.selectNodeContents(element);
        for (const box of [element.getBoundingClientRect(), range.getBoundingClientRect()])
          if (box.right > right + 1) wide.push(`${look}: ${element.localName} ${element.textContent}`);
      }
    }
    expect(wide).to.deep.equal([]);
  });

  it('has inputs on which Safari does not zoom in', () => {
    let count = 0;
    for (const look of looks())
      for (const input of form.querySelectorAll('input, select')) {
        count += 1;
        expect(Number.parseFloat(getComputedStyle(input).fontSize), look).to.be.at.least(LEAST_PX);
      }
    expect(count).to.be.greaterThan(0);
  });
});
