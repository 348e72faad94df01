// `layout="button"` and `layout="overlay"`. The other layouts need no styles.

import { css } from 'lit';

export const layouts = css`
  :host([layout~='button' i]) .zone :is(.badge, .title) {
    display: none;
  }

  /* The limits are beside the buttons. */
  :host([layout~='button' i]) .invitation {
    flex: 0 1 auto;
    order: 1;
  }

  .bare {
    inline-size: fit-content;
    background: none;
    border: 0;
    overflow: visible;

    &:has(> .dragging) {
      outline-offset: 4px;
    }

    > .zone {
      padding: 0;
      background: none;
    }
  }

  .overlay {
    inset: 0.5rem;
    inline-size: auto;
    block-size: auto;
    color: var(--_text);
    font-weight: var(--_heavy);
    background: color-mix(in srgb, var(--_tint) 92%, transparent);
    border: 2px dashed var(--_accent);
    border-radius: var(--_radius);
    /* The drop targets of the page stay reachable. */
    pointer-events: none;
  }

  .overlay:popover-open {
    display: grid;
    gap: 0.75em;
    place-content: center;
    justify-items: center;
  }

  .overlay > .badge {
    color: var(--_accent);
  }

  ::slotted([slot^='row-']) {
    grid-column: 1 / -1;
  }
`;
