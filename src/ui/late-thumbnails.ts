// Loads the thumbnails of the list on demand.

import type { ReactiveControllerHost } from 'lit';
import type { Change } from '../core/changes.ts';
import type { FileId } from '../core/types.ts';
import { whenIdle } from '../core/wait.ts';
import { warnOnceHere } from '../core/warn.ts';
import type { Thumbnails } from '../photos/thumbnails.ts';

export type ThumbnailOf = (id: FileId) => HTMLCanvasElement | undefined;

const OWN = {
  thumbnails: (): Promise<Pick<typeof import('../photos/thumbnails.ts'), 'Thumbnails' | 'workerText'>> =>
    import('../photos/thumbnails.ts'),
  tasks: () => import('../photos/photo-tasks.ts'),
};

/**
 * Returns functions that load the code for thumbnails when the page is idle, that return the thumbnail of a row, if it is ready,
 * and that forget it with its row.
 */
export function createThumbnails(
  host: ReactiveControllerHost,
  fileOf: (id: FileId) => File | undefined,
  code = OWN,
): { preload(): void; readonly of: ThumbnailOf; onChange(change: Change): void } {
  let isLoading = false;
  let thumbnails: Thumbnails | undefined;
  const onReady = (): void => host.requestUpdate();
  const load = async (): Promise<void> => {
    const { Thumbnails, workerText } = await code.thumbnails();
    thumbnails = new Thumbnails({ loadTasks: code.tasks, fileOf, onReady });
    onReady();
    // After a release, the worker could not be loaded any more.
    await (workerText?.() ?? code.tasks());
  };
  const warn = (): void => {
    if (navigator.onLine)
      warnOnceHere(
        'The code for thumbnails could not be loaded. Serve all files of this version from one folder.',
      );
  };
  return {
    preload: () => {
      if (!isLoading) whenIdle(() => load().catch(warn));
      isLoading = true;
    },
    of: (id) => thumbnails?.of(id),
    onChange: ({ name, detail }) => {
      if (name === 'file-removed') thumbnails?.forget(detail.id);
    },
  };
}
