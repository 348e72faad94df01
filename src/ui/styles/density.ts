// `density="compact"`: rows of 40 px with one line. Rows with an error or a button, and large text, take the space that they need.

import { css } from './css.ts';

export const density = css`
  :host([density~='compact' i]) {
    .row {
      gap: 0.6em;
      align-items: center;
      min-block-size: 40px;
      padding-block: 0;
    }

    :is(.row, .totals, .compact) .badge {
      inline-size: 1.7em;
      block-size: 1.7em;
    }

    .row:has(.problem) {
      padding-block: 0.4em;
    }

    .row .problem {
      flex-basis: 100%;
      margin: 0;
    }

    .row .body > button {
      margin: 0;
    }

    :is(.totals, .zone.compact, .undo) {
      padding-block: 0.35em;
    }

    .zone:not(.compact) {
      gap: 0.6em;
      padding-block: 1.5em;
    }

    @container (inline-size >= 26em) {
      .row > .body {
        display: flex;
        flex-wrap: wrap;
        gap: 0 0.75em;
        align-items: baseline;
      }

      .row .head {
        flex: 1 1 7em;
        min-inline-size: 0;
      }
    }

    /* The icon, the bar and the percentage show the same; screen readers still read the line. */
    @container (inline-size < 26em) {
      .row:is(.queued, .hashing, .uploading, .committing, .done):not(.retrying) .status {
        position: absolute;
        inline-size: 1px;
        block-size: 1px;
        clip-path: inset(50%);
        white-space: nowrap;
      }

      .row:is(.paused, .failed, .canceled, .retrying) {
        padding-block-end: 0.5em;
      }
    }
  }
`;
