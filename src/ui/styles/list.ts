// Layout of rows and footer, also in narrow containers.

import { css } from 'lit';

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
    --_row: var(--secure-uploader-row-padding, 0.8em);
    position: relative;
    display: grid;
    grid-template-columns: auto minmax(0, 1fr) auto;
    gap: 0 0.85em;
    align-items: center;
    /* The bar is in the lower part. */
    padding-block: var(--_row) max(var(--_row), 0.25em + var(--_bar));
    padding-inline: 1em 0.6em;
  }

  .row > .body {
    display: contents;
  }

  .row > :is(.badge, .actions) {
    grid-row: 1 / 3;
  }

  .row > .actions {
    grid-column: 3;
  }

  .body > * {
    grid-column: 2;
  }

  .status ~ * {
    grid-column: 2 / -1;
  }

  .row > .badge {
    font-size: 0.7em;
    font-weight: var(--_heavy);
    inline-size: 3.5em;
    block-size: 3.5em;
  }

  .mark {
    position: absolute;
    inset-block-end: -0.4em;
    inset-inline-end: -0.4em;
    background: currentColor;
    border: 2px solid var(--_surface);
    border-radius: 50%;
  }

  .mark > .icon {
    inline-size: 1.1em;
    block-size: 1.1em;
    stroke: var(--_surface);
    stroke-width: 3;
  }

  .row:focus-visible {
    outline-offset: -2px;
  }

  .row.inside {
    padding-inline-start: 2em;
  }

  [aria-expanded='true'] > .icon {
    rotate: 0.5turn;
  }

  .row + .row {
    border-block-start: 1px solid var(--_line);
  }

  .name {
    min-inline-size: 0;
    /* The width of a digit, so that another font is another size of the box, which is observed (shown-name.ts). */
    padding-block-end: 1ch;
    margin-block-end: -1ch;
    font-weight: var(--_weight);
  }

  .name > bdi {
    display: block;
    inline-size: fit-content;
    max-inline-size: 100%;
    overflow-x: clip;
    white-space: pre;
  }

  .cut {
    font-size: 0;
    letter-spacing: 0;
    word-spacing: 0;
  }

  .end::before {
    content: '…';
    /* Without a text for screen readers. */
    content: '…' / '';
  }

  /* Below the text that it belongs to, and in the padding, so that rows have the same height in all phases. */
  .row .bar {
    position: absolute;
    inset-inline: 0 0.4em;
    inset-block-end: 0.3em;
    grid-column: 2 / -1;
  }

  .status {
    display: flex;
    overflow: clip;
  }

  .phase {
    flex: none;
    max-inline-size: 100%;
    overflow-wrap: anywhere;
  }

  /*
   * One line with the facts that fit, so that rows and footer keep their height: others wrap, and are clipped. The first fact wraps
   * only after an item that always fits.
   */
  .facts {
    display: flex;
    flex: 1 1 0;
    flex-wrap: wrap;
    min-inline-size: 0;
    block-size: 1lh;
    overflow: clip;
    white-space: nowrap;
  }

  .facts::before {
    block-size: 1lh;
    content: '';
  }

  /* The dot of the first one is in a clipped margin. */
  .sums .facts {
    margin-inline-start: -1em;
  }

  .facts > * {
    position: relative;
    padding-inline-start: 1em;
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

  /* Up to the icons of the buttons, not to their edges, which are not visible. */
  .problem {
    margin-block-start: 0.2em;
    padding-inline-end: 0.64em;
    font-size: 0.9em;
    overflow-wrap: anywhere;
  }

  .row .body > button {
    justify-self: start;
    margin-block-start: 0.5em;
  }

  .row .bar ~ :is(.problem, button):last-child {
    margin-block-end: 0.5em;
  }

  .canceled .name {
    color: var(--_muted);
  }

  :is(.paused, .waiting) .sent {
    background: var(--_muted);
  }

  .failed .sent {
    background: var(--_danger);
  }

  .actions {
    display: flex;
    align-items: start;
    justify-content: end;
    min-inline-size: 4.8em;
  }

  .totals {
    display: flex;
    flex-wrap: wrap;
    gap: 0.35em 0.85em;
    align-items: center;
    padding: 0.6em 1em;
    border-block-start: 1px solid var(--_line);
  }

  .totals .bar {
    flex-basis: 100%;
    margin-block-start: 0.3em;
  }

  .sums {
    flex: 1 1 9em;
    min-inline-size: 0;
  }

  .totals.done .sent {
    background: var(--_success);
  }

  .bulk {
    font-size: 0.95em;
  }


  /* As wide as the icon of a row. */
  .sign {
    display: grid;
    flex: none;
    place-items: center;
    inline-size: 2.45em;
  }

  .sign > .icon {
    stroke-width: 2.25;
  }

  .failed > .sign {
    color: var(--_danger);
  }

  .done > .sign {
    color: var(--_success);
  }

  /* Few users pause a file. The button of a row shows when the row is pointed at or has the focus. */
  @media (hover: hover) and (not (any-pointer: coarse)) {
    .row:not(:hover, :focus-within) .menu:not(:popover-open) [data-action='go'] {
      opacity: 0;
    }
  }

  @container (inline-size >= 26em) {
    .actions > [data-action='undo'] {
      inline-size: auto;
      padding-inline: 0.65em;

      .icon {
        display: none;
      }

      .word {
        display: inline;
      }
    }
  }

  @container (inline-size < 26em) {
    .row {
      --_row: var(--secure-uploader-row-padding, 0.55em);
      gap: 0 0.6em;
    }

    .row > .actions {
      min-inline-size: 0;
    }

    .choices {
      flex: 1 1 100%;
    }

    .choices button:not(.icon-button) {
      flex: 1 1 auto;
    }

    :is(.compact, .panel:not(.cause)) > .badge {
      display: none;
    }

    /* It looks like a text: below the other texts. */
    .choices .plain:only-child {
      flex: 0 1 auto;
      margin-inline-start: calc(-0.65em - 1px);
      text-align: start;
    }

    /* The buttons say what it is. */
    .listed:not(.dragging) > .invitation {
      display: none;
    }

    .sums {
      flex-grow: 999;
    }

    .bulk {
      flex: 1 1 auto;
      justify-content: end;
      min-inline-size: 0;
    }

    .bulk button {
      min-block-size: max(44px, 2.4em);
    }

    .bulk:has(> .icon-button:nth-child(2)) {
      flex-wrap: nowrap;
    }

    .bulk > button:not(.icon-button) {
      flex: 1 1 auto;
    }

    .bulk > .icon-button {
      align-self: center;
      inline-size: max(44px, 2.4em);
    }

    .bulk > button.plain:only-child {
      margin-inline-end: auto;
    }
  }

  @container (inline-size < 16em) {
    .row {
      display: block;
    }

    .row > .badge {
      display: none;
    }

    .name > bdi {
      inline-size: auto;
      overflow: visible;
      white-space: pre-wrap;
      overflow-wrap: anywhere;
    }

    .cut {
      font-size: inherit;
      letter-spacing: inherit;
      word-spacing: inherit;
    }

    .end::before {
      content: none;
    }
  }
`;
