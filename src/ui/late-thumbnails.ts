// Loads the thumbnails of the list on demand.

import type { ReactiveControllerHost } from 'lit';
import type { Change } from '../core/changes.ts';
import type { FileId } from '../core/types.ts';
import { whenIdle } from '../core/wait.ts';
import type { Thumbnails } from '../photos/thumbnails.ts';

export type ThumbnailOf = (id: FileId) => HTMLCanvasElement | undefined;

/**
 * Returns functions that load the code for thumbnails when the page is idle, that return the thumbnail of a row, if it is ready,
 * and that forget it with its row.
 */
export function createThumbnails(
  host: ReactiveControllerHost,
  fileOf: (id: FileId) => File | undefined,
): { preload(): void; readonly of: ThumbnailOf; onChange(change: Change): void } {
  let isLoading = false;
  let thumbnails: Thumbnails | undefined;
  const onReady = (): void => host.requestUpdate();
  const loadTasks = () => import('../photos/photo-tasks.ts');
  const load = async (): Promise<void> => {
    const { Thumbnails, workerText } = await import('../photos/thumbnails.ts');
    thumbnails = new Thumbnails({ loadTasks, fileOf, onReady });
    onReady();
    // After a release, the worker could not be loaded any more.
    await (workerText?.() ?? loadTasks());
  };
  return {
    preload: () => {
      if (!isLoading) whenIdle(() => load().catch(() => undefined));
      isLoading = true;
    },
    of: (id) => thumbnails?.of(id),
    onChange: ({ name, detail }) => {
      if (name === 'file-removed') thumbnails?.forget(detail.id);
    },
  };
}
