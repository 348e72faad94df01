export const SHOTS: readonly {
  readonly name: string;
  readonly query: Readonly<Record<string, string>>;
  readonly media?: { readonly colorScheme?: 'light' | 'dark' };
  readonly isStored?: boolean;
}[];
