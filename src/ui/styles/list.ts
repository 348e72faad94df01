// Layout of rows and footer, also in narrow containers.

import { css } from 'lit';

export const list = css`
  .scroller {
    max-block-size: var(--secure-uploader-list-height, 30em);
    overflow: auto;
    overscroll-behavior: auto;
    scrollbar-width: thin;
  }

  .row {
    display: flex;
    gap: 0.85em;
    padding-block: 0.85em;
    padding-inline: 1em 0.6em;
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

  .row .bar {
    margin-block: 0.45em;
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

  .facts > ::before {
    display: inline-block;
    inline-size: 1em;
    text-align: center;
    content: '·';
  }

  .path {
    min-inline-size: 0;
    overflow-wrap: anywhere;
  }

  .problem {
    margin-block-start: 0.2em;
    font-size: 0.9em;
    overflow-wrap: anywhere;
  }

  .canceled .name,
  .warning {
    color: var(--_muted);
  }

  .paused .sent,
  .paused .stored {
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
    gap: 0.35em 1em;
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

  .bulk {
    gap: 0;
    font-size: 0.95em;
  }

  @container (inline-size < 26em) {
    .compact {
      flex-wrap: wrap;
    }

    .choices {
      flex: 1 1 100%;
    }

    .choices > button {
      flex: 1 1 auto;
    }

    .compact > .badge,
    .panel > .badge,
    .row > .badge,
    .row .percent,
    .row .speed {
      display: none;
    }

    .bulk {
      margin-inline-start: -0.65em;
    }
  }
`;
