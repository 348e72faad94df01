// Layout of rows and footer, also in narrow containers.

import { css } from './css.ts';

export const list = css`
  .scroller {
    max-block-size: var(--secure-uploader-list-height, 30em);
    overflow: auto;
    scrollbar-width: thin;
  }

  /* Otherwise, the browser scrolls on when rows take the place of a spacer. */
  .spacer {
    overflow-anchor: none;
  }

  .row {
    position: relative;
    display: flex;
    gap: 0.85em;
    padding-block: 0.85em;
    padding-inline: 1em 0.6em;
  }

  .row:focus-visible {
    outline-offset: -2px;
  }

  .row + .row {
    border-block-start: 1px solid var(--_line);
  }

  .head {
    display: flex;
    gap: 0.75em;
    align-items: baseline;
  }

  .name {
    display: flex;
    flex: 1;
    min-inline-size: 0;
    font-weight: 500;
  }

  .name > bdi {
    display: flex;
    min-inline-size: 0;
    white-space: pre;
  }

  .stem {
    overflow: hidden;
    text-overflow: ellipsis;
  }

  .percent {
    color: var(--_muted);
    font-size: 0.9em;
  }

  /* At the edge, so that rows have the same height in all phases. */
  .row .bar {
    position: absolute;
    inset-inline: 0;
    inset-block-end: 0;
    border-radius: 0;
  }

  .status {
    overflow: clip;
  }

  /* The dots are in a clipped margin, so that no line starts with one. */
  .facts {
    display: flex;
    flex-wrap: wrap;
    margin-inline-start: -1em;
  }

  .facts > * {
    position: relative;
    padding-inline-start: 1em;
    overflow-wrap: anywhere;
  }

  .facts > ::before {
    position: absolute;
    inset-inline-start: 0;
    inline-size: 1em;
    text-align: center;
    content: '·';
    /* Without a text for screen readers. */
    content: '·' / '';
  }

  .problem {
    margin-block-start: 0.2em;
    font-size: 0.9em;
    overflow-wrap: anywhere;
  }

  .row .body > button {
    justify-self: start;
    margin-block-start: 0.5em;
  }

  .canceled .name {
    color: var(--_muted);
  }

  :is(.paused, .waiting) :is(.sent, .stored) {
    background: var(--_muted);
  }

  .actions {
    display: flex;
    flex: none;
    align-items: start;
    justify-content: end;
    min-inline-size: 4.8em;
  }

  .totals {
    display: flex;
    flex-wrap: wrap;
    gap: 0.35em 0.85em;
    align-items: center;
    padding-block: 0.6em;
    padding-inline: 1em 0.6em;
    border-block-start: 1px solid var(--_line);
  }

  .totals .bar {
    flex-basis: 100%;
    margin-block-start: 0.3em;
    margin-inline-end: 0.4em;
  }

  .sums {
    flex: 1 1 16em;
  }

  .headline {
    font-weight: 600;
  }

  .totals.done .stored {
    background: var(--_success);
  }

  .bulk {
    font-size: 0.95em;
  }

  .bulk > .icon-button {
    anchor-name: --_more;
  }

  .menu {
    padding: 0.3em;
    color: inherit;
    border-color: var(--_edge);
    box-shadow: 0 4px 16px #0003;
  }

  .menu > button {
    display: block;
    inline-size: 100%;
    text-align: start;
  }

  /*
   * Above its button, or below it. In other browsers, the menu is in the middle of the window. Without position-area, which places
   * it outside of the window in Firefox 153 from right to left.
   */
  @supports (bottom: anchor(top)) {
    .menu {
      inset: auto;
      inset-inline-end: anchor(self-end);
      bottom: anchor(top);
      margin: 0.25em 0;
      position-anchor: --_more;
      position-try-fallbacks: flip-block;
    }
  }

  /* Icon, name and buttons are in the first line of a row; everything else has its full width. */
  @container (inline-size < 26em) {
    .row {
      display: grid;
      grid-template-columns: auto minmax(0, 1fr) auto;
      gap: 0 0.6em;
      align-items: center;
    }

    .row > .body {
      display: contents;
    }

    .row > .badge {
      inline-size: 1.9em;
      block-size: 1.9em;
    }

    .row .head ~ :not(.bar) {
      grid-column: 1 / -1;
    }

    .row > .actions {
      grid-row: 1;
      grid-column: 3;
      min-inline-size: 0;
    }

    .choices {
      flex: 1 1 100%;
    }

    .choices button {
      flex: 1 1 auto;
    }

    .compact .badge,
    .panel > .badge {
      display: none;
    }

    .sums {
      flex-basis: 8em;
    }

    .bulk {
      flex-basis: 100%;
      justify-content: end;
    }

    .bulk > button:not(.plain, .icon-button) {
      flex: 1;
    }

    .totals .status {
      min-block-size: 2lh;
    }
  }

  /* Hidden, because speed and time left would change the number of lines. The footer shows them, too. */
  @container (inline-size < 38em) {
    .base:has(.totals) .row .speed {
      display: none;
    }
  }

  @container (inline-size < 16em) {
    .row > .actions {
      grid-row: auto;
      grid-column: 1 / -1;
    }
  }
`;
