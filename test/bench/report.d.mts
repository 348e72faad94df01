// Types of report.mjs for the tests, which are TypeScript.

export interface Results {
  readonly measuredAt: string;
  readonly browser: string;
  readonly machine: { readonly processors: number };
  readonly profiles: readonly {
    readonly name: string;
    readonly rounds: number;
    readonly rows: readonly ({ readonly client: string; readonly good: number } & Readonly<
      Record<string, number | string>
    >)[];
  }[];
}

export function resultsOf(results: Results): string;
export function withResults(text: string, results: Results): string;
