// `density="compact"`: rows of 40 px with one line, or of 54 px with two lines in narrow places. Rows with an error or a button,
// and large text, take the space that they need.

import { css } from 'lit';

export const density = css`
  :host([density~='compact' i]) {
    .row {
      column-gap: 0.6em;
      min-block-size: 40px;
      padding-block: 0;
    }

    .compact .badge {
      inline-size: 1.7em;
      block-size: 1.7em;
    }

    .row > .badge {
      block-size: 2.6em;
    }

    .row .problem {
      flex-basis: 100%;
      margin-block-start: 0;
    }

    .row .body > button {
      margin-block: 0.3em 0.5em;
    }

    :is(.totals, .zone.compact) {
      padding-block: 0.35em;
    }

    .cause {
      padding-block: 0.5em;
    }

    .zone:not(.compact) {
      gap: 0.6em;
      padding-block: 1.5em;
    }

    /* One line. The name keeps some space, and the facts that don't fit beside it are clipped. */
    @container (inline-size >= 37em) {
      .row > .body {
        display: flex;
        flex-wrap: wrap;
        grid-row: 1 / 3;
        gap: 0 0.75em;
        align-items: baseline;
        /* The bar is in the lower part. */
        padding-block: 0.4em max(0.55em, 0.25em + var(--_bar));
      }

      .row .name {
        flex: 1 1 11em;
      }

      /* What the name and the gap leave, in the font size of the status. */
      .row .status {
        max-inline-size: calc(100% - 13.1em);
      }
    }

    /* Two lines, and the bar below them. */
    @container (inline-size < 37em) {
      .row {
        padding-block: 0 max(0.55em, 0.25em + var(--_bar));
      }

      .row:is(:has(.problem), .retrying) {
        padding-block: 0.4em max(0.6em, 0.25em + var(--_bar));
      }
    }
  }
`;
