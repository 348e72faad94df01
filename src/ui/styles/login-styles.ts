// Styles of the sign-in form. Every rule is scoped to its tag, since the form is in the light DOM (for password managers). Inputs
// have a font size of at least 16 px, because Safari on iOS zooms in on smaller text.

import { css } from 'lit';
import { buttons } from './controls.ts';
import { palette } from './tokens.ts';

export const loginStyles = css`
  ${palette}

  secure-uploader-login {
    display: block;
    max-inline-size: 26em;
    line-height: 1.45;
    overflow-wrap: anywhere;

    ${buttons}

    :is(h2, p, ul, form) {
      margin: 0;
      padding: 0;
      list-style: none;
    }

    :is(section, form, ul, label) {
      display: grid;
      grid: auto / 100%;
      gap: 0.75em;
    }

    h2 {
      font-size: 1.15em;
    }

    h2[tabindex]:focus-visible {
      outline: 0;
    }

    label {
      gap: 0.25em;
      font-weight: var(--_weight);
    }

    :is(input, select) {
      box-sizing: border-box;
      inline-size: 100%;
      min-block-size: 2.4em;
      padding: 0.35em 0.7em;
      font: inherit;
      font-size: max(16px, 1em);
      color: inherit;
      background: transparent;
      border: 1px solid var(--_edge);
      border-radius: var(--_inner);
    }

    @media (pointer: coarse) {
      :is(button, input, select) {
        min-block-size: 44px;
      }
    }

    li > button {
      inline-size: 100%;
      text-align: start;
    }

    .beside {
      display: flex;
      flex-wrap: wrap;
      gap: 0.5em;
      align-items: end;
    }

    .beside > label {
      flex: 1 1 12em;
    }

    :is(.hint, input[readonly]) {
      display: block;
      color: var(--_muted);
    }

    .error {
      color: var(--_danger);
      font-weight: var(--_weight);
    }

    .error:empty {
      position: absolute;
    }

    input[aria-invalid='true'] {
      border-color: var(--_danger);
    }

    .number {
      font-size: 2.4em;
    }
  }
`;
