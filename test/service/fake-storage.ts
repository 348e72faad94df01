// Requests to a storage that tests answer: an `XMLHttpRequest` that sends nothing.

import type { TicketUpload } from '../../src/core/types.ts';

export const url = 'https://storage.test/object?signature=1';

/** A response of the storage. */
export interface Said {
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly responseURL?: string;
}

const { open, send, setRequestHeader } = XMLHttpRequest.prototype;

/** What the current test has sent. */
export const sent = {
  requests: [] as XMLHttpRequest[],
  opened: [] as unknown[],
  headers: [] as string[][],
  bodies: [] as unknown[],
};

beforeEach(() => {
  Object.assign(sent, { requests: [], opened: [], headers: [], bodies: [] });
  XMLHttpRequest.prototype.open = function (this: XMLHttpRequest, ...args: unknown[]) {
    sent.opened = args;
    open.apply(this, args as Parameters<typeof open>);
  } as typeof open;
  XMLHttpRequest.prototype.setRequestHeader = function (this: XMLHttpRequest, name, value) {
    sent.headers.push([name, value]);
    setRequestHeader.call(this, name, value);
  };
  XMLHttpRequest.prototype.send = function (this: XMLHttpRequest, body) {
    sent.requests.push(this);
    sent.bodies.push(body);
  };
});
afterEach(() => {
  Object.assign(XMLHttpRequest.prototype, { open, send, setRequestHeader });
});

/** Sets the response of `xhr`. */
export function answer(
  xhr: XMLHttpRequest,
  status: number,
  { text = '', headers = {}, responseURL = url }: Said,
): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const values: Record<string, unknown> = {
    status,
    responseURL,
    responseText: text,
    getAllResponseHeaders: () => lines.join(''),
    getResponseHeader: (name: string) => headers[name] ?? null,
  };
  for (const [name, value] of Object.entries(values)) Object.defineProperty(xhr, name, { value });
}

export const uploadOf = (more: Partial<TicketUpload> = {}): TicketUpload => ({
  url,
  method: 'PUT',
  headers: {},
  ...more,
});
