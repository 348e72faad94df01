export function startDemoPages(options?: {
  readonly port?: number;
  readonly host?: string;
  readonly hostname?: string;
}): Promise<{
  readonly origin: string;
  readonly url: string;
  setConfig(config: object): void;
  stop(): Promise<void>;
}>;
