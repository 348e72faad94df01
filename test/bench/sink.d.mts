// Types of sink.mjs for the tests, which are TypeScript.

/** What was received since the last `reset`. */
export interface Counts {
  readonly bytes: number;
  readonly requests: number;
  readonly perOrigin: Readonly<
    Record<'service' | 'storage', { readonly requests: number; readonly bytes: number }>
  >;
}

export interface Sink {
  readonly service: string;
  readonly storage: string;
  reset(options?: { readonly keepMemory?: boolean }): Promise<void>;
  counts(): Promise<Counts>;
  stop(): Promise<void>;
}

export function startSink(profile: { readonly line: object; readonly twice?: boolean }): Promise<Sink>;

export function makeCertificate(): { readonly key: string; readonly cert: string };
