// Colors, dimensions and fonts for all other styles. Light or dark mode follows the page's `color-scheme`.

import { css } from 'lit';

/** Maps the public custom properties, with their defaults, to short internal names. */
export const palette = css`
  :host,
  secure-uploader-login {
    --_accent: var(--secure-uploader-accent, light-dark(#1b55c9, #8ab0ff));
    --_on-accent: var(--secure-uploader-on-accent, light-dark(#fff, #0c1730));
    --_surface: var(--secure-uploader-surface, light-dark(#fff, #16191f));
    --_text: var(--secure-uploader-text, light-dark(#14171c, #eceef2));
    --_muted: var(--secure-uploader-muted, light-dark(#596170, #a0a8b5));
    --_line: var(--secure-uploader-line, light-dark(#e2e5ea, #2c313a));
    --_danger: var(--secure-uploader-danger, light-dark(#b3261e, #ff9b92));
    --_warning: var(--secure-uploader-warning, light-dark(#8a5300, #f0b95b));
    --_success: var(--secure-uploader-success, light-dark(#15734a, #6fd3a4));
    --_radius: var(--secure-uploader-radius, 12px);
    --_inner: calc(var(--_radius) * 0.6);
    --_button: var(--secure-uploader-button-radius, var(--_inner));
    --_weight: var(--secure-uploader-font-weight, 500);
    --_heavy: min(1000, var(--_weight) + 100);
    --_bar: var(--secure-uploader-bar-height, 4px);
    --_edge: color-mix(in srgb, var(--_text) 50%, var(--_surface));
    --_tint: color-mix(in srgb, var(--_accent) 7%, var(--_surface));
    --_hover: color-mix(in srgb, var(--_text) 6%, transparent);
  }
`;

/** The palette, and rules for all elements. */
export const tokens = css`
  ${palette}

  :host {
    position: relative;
    display: block;
    container-type: inline-size;
    contain-intrinsic-inline-size: 24rem;
    color: var(--_text);
    font-family: var(--secure-uploader-font, inherit);
    font-size: var(--secure-uploader-font-size, 0.9375em);
    line-height: 1.45;
    text-align: start;
  }

  :host([hidden]) {
    display: none;
  }

  * {
    box-sizing: border-box;
  }

  p,
  ul {
    margin: 0;
    padding: 0;
    list-style: none;
  }

  .base {
    background: var(--_surface);
    border: 1px solid var(--_line);
    border-radius: var(--_radius);
    font-variant-numeric: tabular-nums;
    overflow: clip;
  }

  .title,
  .headline {
    font-weight: var(--_heavy);
  }

  .silent {
    position: absolute;
    inline-size: 1px;
    block-size: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
`;
