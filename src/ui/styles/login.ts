// The look of the sign-in form. It has no shadow root, so that password managers see its fields; every rule begins with its tag.

import { css } from 'lit';

export const login = css`
  secure-uploader-login {
    --_a: var(--secure-uploader-accent, light-dark(#1b55c9, #8ab0ff));
    --_on: var(--secure-uploader-on-accent, light-dark(#fff, #0c1730));
    --_bad: var(--secure-uploader-danger, light-dark(#b3261e, #ff9b92));
    --_soft: var(--secure-uploader-muted, light-dark(#596170, #a0a8b5));
    --_rim: color-mix(in srgb, currentcolor 40%, transparent);
    display: block;
    max-inline-size: 26em;
    line-height: 1.45;
  }

  secure-uploader-login :is(h2, p, ul, form) {
    margin: 0;
    padding: 0;
    list-style: none;
  }

  secure-uploader-login :is(section, form, ul) {
    display: grid;
    gap: 0.75em;
  }

  secure-uploader-login h2 {
    font-size: 1.15em;
    font-weight: 600;
  }

  secure-uploader-login h2:focus {
    outline: none;
  }

  secure-uploader-login label {
    display: grid;
    gap: 0.25em;
    font-weight: 500;
  }

  secure-uploader-login input {
    box-sizing: border-box;
    inline-size: 100%;
    min-block-size: 2.6em;
    padding: 0.3em 0.7em;
    font: inherit;
    color: inherit;
    background: transparent;
    border: 1px solid var(--_rim);
    border-radius: 0.45em;
  }

  secure-uploader-login input[readonly] {
    color: var(--_soft);
    border-style: dashed;
  }

  secure-uploader-login input[aria-invalid='true'] {
    border-color: var(--_bad);
  }

  secure-uploader-login input[autocomplete='one-time-code'] {
    font-size: 1.25em;
    letter-spacing: 0.15em;
    font-variant-numeric: tabular-nums;
  }

  secure-uploader-login .beside {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5em;
    align-items: end;
  }

  secure-uploader-login .beside > label {
    flex: 1 1 12em;
  }

  secure-uploader-login [role='status']:empty {
    margin-block-start: -0.75em;
  }

  secure-uploader-login button {
    min-block-size: 2.6em;
    padding: 0.3em 0.95em;
    font: inherit;
    font-weight: 500;
    color: inherit;
    text-align: start;
    cursor: pointer;
    background: transparent;
    border: 1px solid var(--_rim);
    border-radius: 0.45em;
  }

  secure-uploader-login button.primary {
    color: var(--_on);
    text-align: center;
    background: var(--_a);
    border-color: var(--_a);
  }

  secure-uploader-login button.plain {
    padding-inline: 0.4em;
    color: var(--_soft);
    border-color: transparent;
  }

  secure-uploader-login li > button {
    inline-size: 100%;
  }

  secure-uploader-login button:disabled {
    cursor: default;
    opacity: 0.55;
  }

  secure-uploader-login :is(button, input):focus-visible {
    outline: 2px solid var(--_a);
    outline-offset: 2px;
  }

  secure-uploader-login .hint {
    display: block;
    font-weight: 400;
    color: var(--_soft);
  }

  secure-uploader-login .error {
    color: var(--_bad);
    font-weight: 500;
  }

  secure-uploader-login .number {
    font-size: 2.4em;
    font-weight: 600;
    line-height: 1.1;
    font-variant-numeric: tabular-nums;
  }
`;
