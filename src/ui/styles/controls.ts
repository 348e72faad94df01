// Buttons, badges and bars, shared by several views.

import { css } from 'lit';

/** Text buttons, shared with the sign-in form. */
export const buttons = css`
  button {
    min-block-size: 2.4em;
    padding: 0.35em 0.95em;
    font: inherit;
    font-weight: var(--_weight);
    color: inherit;
    background: var(--_surface);
    border: 1px solid var(--_edge);
    border-radius: var(--_button);
    cursor: pointer;
  }

  button:hover {
    background: color-mix(in srgb, var(--_text) 5%, var(--_surface));
  }

  :is(button, input, select, summary, [tabindex]):focus-visible {
    outline: 2px solid var(--_accent);
    outline-offset: 2px;
  }

  button:disabled {
    opacity: 0.5;
    cursor: default;
  }

  .primary,
  .primary:hover {
    color: var(--_on-accent);
    background: var(--_accent);
    border-color: var(--_accent);
  }

  .primary:hover {
    background: color-mix(in srgb, var(--_accent) 88%, var(--_text));
  }

  .plain {
    padding-inline: 0.65em;
    color: var(--_muted);
    background: none;
    border-color: transparent;
  }

  .plain:hover,
  .icon-button:hover {
    color: var(--_text);
    background: var(--_hover);
  }
`;

export const controls = css`
  ${buttons}

  .icon-button {
    display: grid;
    flex: none;
    place-items: center;
    align-self: start;
    inline-size: 2.4em;
    padding: 0;
    color: var(--_muted);
    background: none;
    border-color: transparent;
  }

  .icon {
    display: block;
    inline-size: 1.25em;
    block-size: 1.25em;
    fill: none;
    stroke: currentColor;
    stroke-width: 1.5;
    stroke-linecap: round;
    stroke-linejoin: round;
  }

  @media (pointer: coarse) {
    button {
      min-block-size: 44px;
    }

    .icon-button {
      inline-size: 44px;
    }

    .actions {
      gap: 8px;
    }

    .row .problem {
      padding-inline-end: calc(22px - 0.7em);
    }
  }

  .badge {
    position: relative;
    display: grid;
    flex: none;
    place-items: center;
    inline-size: 2.5em;
    block-size: 2.5em;
    color: var(--_muted);
    background: color-mix(in srgb, currentColor 9%, transparent);
    border-radius: var(--_inner);
  }

  .bar {
    position: relative;
    block-size: var(--_bar);
    overflow: clip;
    background: color-mix(in srgb, var(--_text) 10%, var(--_surface));
    border-radius: calc(var(--_bar) / 2);
    contain: strict;
  }

  .sent {
    position: absolute;
    inset-block: 0;
    inset-inline-start: 0;
    inline-size: var(--_share);
    background: var(--_accent);
    border-radius: inherit;
  }

  .checking::after {
    position: absolute;
    inset: 0;
    content: '';
    background: linear-gradient(90deg, transparent 20%, var(--_muted), transparent 80%) 0 0 / 50% 100% no-repeat;
    opacity: 0.75;
    animation: sweep 1.6s ease-in-out infinite;
  }

  @keyframes sweep {
    from {
      transform: translateX(-50%);
    }
    to {
      transform: translateX(100%);
    }
  }

  .busy {
    animation: breathe 1.8s ease-in-out infinite;
  }

  @keyframes breathe {
    50% {
      opacity: 0.45;
    }
  }

  @media (prefers-reduced-motion: reduce) {
    *,
    ::after {
      animation: none !important;
    }

    .checking::after {
      background: repeating-linear-gradient(90deg, var(--_muted) 0 6px, transparent 6px 12px);
    }
  }

  @media (forced-colors: active) {
    .bar {
      border: 1px solid CanvasText;
      block-size: calc(var(--_bar) + 2px);
    }

    .sent {
      forced-color-adjust: none;
      background: Highlight;
    }

    /* A system without colors has no gradients. */
    .checking::after {
      forced-color-adjust: none;
      background: repeating-linear-gradient(90deg, CanvasText 0 6px, transparent 6px 12px);
      opacity: 1;
      animation: none;
    }

    .mark {
      forced-color-adjust: none;
    }

    /* Badges look like buttons if they have a frame, too. */
    .primary,
    .primary:hover {
      forced-color-adjust: none;
      color: HighlightText;
      background: Highlight;
      border-color: Highlight;
    }

    .plain,
    .icon-button {
      border-color: ButtonText;
    }

    .actions {
      gap: 4px;
    }
  }
`;
