// Menus (`views/menu.ts`).

import { css } from 'lit';

export const menuStyles = css`
  .menu {
    inset: auto;
    /* Otherwise, WebKit makes a grid as high as the window. */
    block-size: auto;
    margin: 0;
    padding: 0.3em;
    max-inline-size: calc(100vw - 1rem);
    color: var(--_text);
    background: var(--_surface);
    border: 1px solid var(--_line);
    border-radius: var(--_inner);
    box-shadow: 0 6px 24px rgb(0 0 0 / 0.18);
  }

  .menu:popover-open {
    display: grid;
    gap: 2px;

    button {
      display: flex;
      gap: 0.6em;
      align-items: center;
      justify-content: start;
      inline-size: 100%;
      min-block-size: 2.6em;
      padding-inline: 0.75em;
      color: inherit;
      text-align: start;
      background: none;
      border-color: transparent;
    }

    button:is(:hover, :focus-visible) {
      background: var(--_hover);
      outline-offset: -2px;
    }
  }

  /* Only menus have words beside the icons. */
  .word {
    display: none;
  }

  .menu:popover-open .word {
    display: inline;
  }

  .menu.fluid:not(:popover-open) {
    display: contents;
    overflow: visible;
  }

  .fluid.icon-button {
    display: none;
  }

  @container (inline-size < 26em) {
    .menu.fluid:not(:popover-open) {
      display: none;
    }

    .fluid.icon-button {
      display: grid;
    }
  }

  .icon-button[data-action='more'] .icon {
    stroke-width: 2.5;
  }

  @media (pointer: coarse) {
    .menu:popover-open button {
      min-block-size: 44px;
    }
  }

  @media (forced-colors: active) {
    .menu:popover-open button:is(:hover, :focus-visible) {
      border-color: Highlight;
    }
  }
`;
