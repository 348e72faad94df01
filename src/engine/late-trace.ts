// Loads the code for spans and reports on demand.

import type { FileId } from '../core/types.ts';
import type { Span, Trace, TracedParts } from './trace.ts';
import type { Uploader } from './uploader.ts';

/** Returns functions that start a trace of an uploader, and that add spans to a run once it has started. */
export function createLateTrace(uploader: Pick<Uploader, 'snapshot' | 'onChange'>) {
  let trace: Promise<Trace> | undefined;
  return {
    start: (onSpan?: (span: Span) => void): Promise<Trace> => {
      trace ??= import('./trace.ts').then((module) => {
        const started = new module.Trace(uploader.snapshot, onSpan);
        uploader.onChange(started.onChange);
        return started;
      });
      return trace;
    },
    /** Waits until the trace is loaded, so that it has all of the run. An upload does not depend on it. */
    wrap: <Parts extends TracedParts>(id: FileId, parts: Parts): Promise<Parts> | Parts =>
      trace?.then(
        (started) => started.wrap(id, parts),
        () => parts,
      ) ?? parts,
  };
}
