// Many files in one request: steps that end for one file and continue for others, and the body and the response of a batch.
import { must } from './requests.ts';
import { forEach } from './store.ts';

const MAX_FILES = 64;
/** Of a batch, and of a request for the chunks of one file. */
export const MAX_HASHES = 100;

/** As many files of a batch ask the database, a hook or the store at once. */
export const FILES_AT_ONCE = 4;

export type Body = Record<string, unknown>;

/** The end of the work for one file. */
export class End {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}
/** What a step has led to for one file. */
export type Step<T> = T | End;

/** Takes the next step for each file that continues, four at a time. An error ends only its file. */
export const eachFile = <T, R>(
  steps: readonly Step<T>[],
  next: (step: T, at: number) => R | Promise<R>,
): Promise<Step<R>[]> =>
  forEach(
    steps,
    async (step, at) => {
      if (step instanceof End) return step;
      try {
        return await next(step, at);
      } catch (error) {
        return new End(error);
      }
    },
    FILES_AT_ONCE,
  );

/** Takes one step for all files that continue. An error ends all of them. */
export async function allFiles<T, R>(
  steps: readonly Step<T>[],
  next: (files: T[]) => Promise<R[]>,
): Promise<Step<R>[]> {
  const going = steps.flatMap((step) => (step instanceof End ? [] : [step]));
  if (going.length === 0) return steps as End[];
  const results = (await next(going)).values();
  return steps.map((step) => (step instanceof End ? step : (results.next().value as R)));
}

/** Returns what a request for one file has led to. Throws its error. */
export function only<T>([step]: readonly Step<T>[]): T {
  if (step instanceof End) throw step.error;
  return step as T;
}

/** Reads the files of a batch. Each is a body of a single request. `requests` is the number of requests that it replaces. */
export function readBatch({ open, commit }: Body) {
  const isOpen = open !== undefined;
  const list = isOpen ? open : commit;
  const isOne = isOpen !== (commit !== undefined);
  must(isOne && Array.isArray(list) && list.length > 0, 400, 'send one list of files: open or commit');
  must(list.length <= MAX_FILES, 413, `more than ${MAX_FILES} files`);
  const files = list.map((file): Body => Object(file));
  const counts = files.map(({ hashes }) => (Array.isArray(hashes) ? hashes.length : 0));
  const total = counts.reduce((sum, count) => sum + count, 0);
  must(total <= MAX_HASHES, 413, `more than ${MAX_HASHES} hashes`);
  const presigns = isOpen ? counts.filter((count) => count > 0).length : 0;
  return { isOpen, files, requests: files.length + presigns };
}

/** Returns what the response to a batch has of the response for a file. */
export async function answerOf(response: Response) {
  const seconds = Number(response.headers.get('retry-after'));
  const body = await response.json();
  return { status: response.status, body, ...(seconds > 0 && { retry_after: seconds }) };
}
