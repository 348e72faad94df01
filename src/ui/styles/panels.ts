// The drop zone and the panels.

import { css } from 'lit';

export const panels = css`
  .zone {
    position: relative;
    display: flex;
    flex-direction: column;
    gap: 1.1em;
    align-items: center;
    padding: 2.75em 1.5em;
    text-align: center;
    cursor: pointer;
  }

  .zone::before {
    position: absolute;
    inset: 0.6em;
    pointer-events: none;
    content: '';
    border: 1px dashed var(--_edge);
    border-radius: var(--_inner);
  }

  .zone.closed {
    cursor: default;

    .badge {
      color: var(--_muted);
    }

    &::before {
      border: 0;
    }
  }

  .zone:hover:not(.closed, .dragging) {
    background: color-mix(in srgb, var(--_text) 1.5%, var(--_surface));
  }

  .base:has(> .dragging) {
    background: var(--_tint);
    outline: 2px solid var(--_accent);
    outline-offset: -2px;
  }

  .zone .badge {
    color: var(--_accent);
    border-radius: 50%;
  }

  .zone:not(.compact) .badge {
    font-size: 1.28em;
  }

  .invitation > .title {
    display: block;
    font-size: 1.1em;
  }

  .hint {
    display: block;
  }

  .hint,
  .text,
  .status,
  .notice {
    color: var(--_muted);
    font-size: 0.9em;
  }

  .choices,
  .bulk {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5em;
  }

  .compact {
    flex-flow: row wrap;
    gap: 0.85em;
    padding: 0.75em 1em;
    text-align: start;
    border-block-end: 1px solid var(--_line);
  }

  .compact::before {
    inset: 4px;
    border: 0;
  }

  .compact .invitation {
    flex: 1 1 8em;
  }

  .compact .title {
    font-size: 1em;
  }

  :is(.zone, .panel, .totals, .notice, .fault) {
    overflow-wrap: anywhere;
  }

  .notice,
  .fault {
    padding: 0.65em 1em;
    border-block-end: 1px solid var(--_line);
  }

  .fault,
  .error {
    color: var(--_danger);
  }

  .panel {
    display: flex;
    gap: 0.85em;
    padding: 1em;
    border-block-end: 1px solid var(--_line);
  }

  /* In line with the buttons of the rows. */
  .panel > .icon-button,
  .bulk > :is(.plain:last-child, .icon-button) {
    margin-inline-end: -6px;
  }

  .base > :last-child {
    border-block-end: 0;
  }

  .message,
  .sign-in {
    flex-wrap: wrap;
    align-items: center;
  }

  .sign-in {
    background: var(--_tint);
    outline-offset: -2px;
  }

  .sign-in .badge {
    color: var(--_accent);
  }

  .danger .badge,
  .failed :is(.badge, .headline),
  .sign-in.danger .text {
    color: var(--_danger);
  }

  .done :is(.badge, .headline, .phase) {
    color: var(--_success);
  }

  .warning,
  .needs-file :is(.badge, .phase) {
    color: var(--_warning);
  }

  .body {
    flex: 1;
    min-inline-size: 0;
  }

  :is(.message, .sign-in) .body {
    flex-basis: 14em;
  }

  .refusals {
    margin-block-start: 0.35em;
    font-size: 0.9em;
  }

  .refusals li {
    padding-block: 0.2em;
    color: var(--_muted);
    overflow-wrap: anywhere;
  }

  .refused {
    color: var(--_text);
    font-weight: var(--_weight);
  }
`;
