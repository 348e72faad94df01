// Icons on a 20-pixel grid, in the text color. Hidden from screen readers, since all buttons have labels.

import { html, type TemplateResult } from 'lit';

const draw = (path: string): TemplateResult =>
  html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false"><path d=${path} /></svg>`;

/** An arrow that leaves a tray. */
export const uploadIcon = draw(
  'M10 13V3.5M6.25 7 10 3.25 13.75 7M3.5 12.5v2a2 2 0 0 0 2 2h9a2 2 0 0 0 2-2v-2',
);
export const fileIcon = draw('M11.5 2.75h-7v14.5h11V6.75zv4h4');
export const folderIcon = draw('M2.75 16.25V3.75h5l2 2.5h7.5v10z');
export const foldIcon = draw('m5 7.5 5 5 5-5');
export const doneIcon = draw('m4.75 10.5 3.5 3.5 7-8');
export const alertIcon = draw('M10 4.5v6.75M10 15v.1');
export const pauseIcon = draw('M7.25 5v10M12.75 5v10');
export const resumeIcon = draw('M6.75 4.75v10.5L15.25 10z');
export const retryIcon = draw('M15.75 10a5.75 5.75 0 1 1-1.9-4.28M16 2.9v3.6h-3.6');
/** An arrow back to the left. */
export const undoIcon = draw('M7 4.25 3.5 7.75 7 11.25M3.75 7.75H12a4.25 4.25 0 0 1 0 8.5H8');
export const closeIcon = draw('m5.5 5.5 9 9M14.5 5.5l-9 9');
export const moreIcon = draw('M4.5 10v.1M10 10v.1M15.5 10v.1');
export const lockIcon = draw('M6.5 9V6.5a3.5 3.5 0 0 1 7 0V9m-9 0h11v7.5h-11zM10 12v1.75');
