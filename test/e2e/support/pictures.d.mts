import type { Browser, Page } from 'playwright';

export function startPictures(): Promise<{
  readonly origin: string;
  readonly browser: Browser;
  shoot(page: Page, name: string): Promise<Buffer>;
  close(): Promise<void>;
}>;
