// Loads the thumbnails of the list on demand.

import type { ReactiveControllerHost } from 'lit';
import { trusted } from '../core/trusted.ts';
import type { FileId } from '../core/types.ts';
import { whenIdle } from '../core/wait.ts';
import type { Thumbnails } from '../photos/thumbnails.ts';

export type ThumbnailOf = (id: FileId) => HTMLCanvasElement | undefined;

/** Returns a function that returns the thumbnail of a row, if it is ready. */
export function createThumbnails(
  host: ReactiveControllerHost,
  fileOf: (id: FileId) => File | undefined,
): ThumbnailOf {
  let isLoading = false;
  let thumbnails: Thumbnails | undefined;
  const onReady = (): void => host.requestUpdate();
  const load = async (): Promise<void> => {
    const module = await import('../photos/thumbnails.ts');
    const loadTasks = () => import('../photos/photo-tasks.ts');
    thumbnails = new module.Thumbnails({ trusted, loadTasks, fileOf, onReady, whenIdle });
    onReady();
  };
  return (id) => {
    if (!isLoading) load().catch(() => undefined);
    isLoading = true;
    return thumbnails?.of(id);
  };
}
