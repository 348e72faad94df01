// Loads the code for spans and reports on demand.

import type { FileId } from '../core/types.ts';
import type { CurrentUser } from '../core/user.ts';
import { abortable } from '../core/wait.ts';
import type { Span, Trace, TracedParts } from './trace.ts';
import type { Uploader } from './uploader.ts';

/** Time from the start of loading in which runs wait for the code, in milliseconds. */
const LOAD_MS = 5000;

/** Returns functions that load the trace of an uploader, and that add spans to a run. Tests replace `importTrace`. */
export function createLateTrace(
  uploader: Pick<Uploader, 'snapshot' | 'onChange'>,
  user: Pick<CurrentUser, 'onChange'>,
  onSpan?: (span: Span) => void,
  importTrace = () => import('./trace.ts'),
) {
  let trace: Trace | undefined;
  let loading: Promise<Trace> | undefined;
  let late: AbortSignal | undefined;
  return {
    /** Resolves with the trace. Rejects if the code cannot be loaded; the next call tries again. */
    load: (): Promise<Trace> => {
      if (loading) return loading;
      late = AbortSignal.timeout(LOAD_MS);
      let hasLeft = false;
      const unsubscribe = user.onChange(() => {
        hasLeft = true;
        trace?.forget();
      });
      loading = importTrace().then(
        (module) => {
          trace = new module.Trace(uploader.snapshot, onSpan);
          uploader.onChange(trace.onChange);
          // The list may still have what is being stopped.
          if (hasLeft) trace.forget();
          return trace;
        },
        (error) => {
          unsubscribe();
          loading = undefined;
          throw error;
        },
      );
      return loading;
    },
    /** Waits for a trace that is being loaded, so that it has the whole run. Never rejects. */
    ready: async (signal: AbortSignal): Promise<void> => {
      if (loading && late && !trace)
        // An upload does not depend on its trace. The caller of `load()` gets the error.
        await abortable(loading, AbortSignal.any([signal, late])).catch(() => undefined);
    },
    /** Returns the parts of a run with spans, if there is a trace. */
    wrap: <Parts extends TracedParts>(id: FileId, parts: Parts): Parts => trace?.wrap(id, parts) ?? parts,
  };
}
