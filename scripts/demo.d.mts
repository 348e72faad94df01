import type { Service } from '../demo/server/server.ts';

export function startDemo(options: {
  dataDir: string;
  port?: number;
  hostname?: string;
  built?: string | undefined;
  origins?: readonly string[];
}): Promise<{ readonly url: string; readonly service: Service; stop(): Promise<void> }>;
