// `density="compact"`: rows of 40 px with one line. Rows with an error or a button, and large text, take the space that they need.

import { css } from './css.ts';

export const density = css`
  :host([density='compact']) .row {
    gap: 0.6em;
    align-items: center;
    min-block-size: 40px;
    padding-block: 0;
  }

  :host([density='compact']) :is(.row, .totals, .compact) .badge {
    inline-size: 1.7em;
    block-size: 1.7em;
  }

  :host([density='compact']) .row:has(.problem) {
    padding-block: 0.4em;
  }

  :host([density='compact']) .row .problem {
    flex-basis: 100%;
    margin: 0;
  }

  :host([density='compact']) .row .body > button {
    margin: 0;
  }

  :host([density='compact']) :is(.totals, .zone.compact, .undo) {
    padding-block: 0.35em;
  }

  :host([density='compact']) .zone:not(.compact) {
    gap: 0.6em;
    padding-block: 1.5em;
  }

  @container (inline-size >= 26em) {
    :host([density='compact']) .row > .body {
      display: flex;
      flex-wrap: wrap;
      gap: 0 0.75em;
      align-items: baseline;
    }

    :host([density='compact']) .row .head {
      flex: 1 1 7em;
      min-inline-size: 0;
    }
  }

  /* The icon, the bar and the percentage show the same; screen readers still read the line. */
  @container (inline-size < 26em) {
    :host([density='compact']) .row:is(.queued, .hashing, .uploading, .committing, .done):not(.retrying) .status {
      position: absolute;
      inline-size: 1px;
      block-size: 1px;
      clip-path: inset(50%);
      white-space: nowrap;
    }

    :host([density='compact']) .row:is(.paused, .failed, .canceled, .retrying) {
      padding-block-end: 0.5em;
    }
  }
`;
