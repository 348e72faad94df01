// Random responses of a storage: only 2xx means that a chunk is stored, and all others cause a retryable `UploaderError`.

import { expect } from '@open-wc/testing';
import fc from 'fast-check';
import { isRetryable } from '../../src/core/error-codes.ts';
import { UploaderError } from '../../src/core/errors.ts';
import { createPut } from '../../src/service/put.ts';
import { rejection } from '../support/collect.ts';
import { headers, status, text } from '../support/junk-answers.ts';
import { runs } from '../support/scope.ts';
import { addFault, findReference, forever } from './reference.ts';

it('an invalid response ends a PUT immediately, and only 2xx is a success', async () => {
  const { baseUrl, storageUrl } = await findReference();
  const put = createPut({ baseUrl, stallMs: 5000 });
  const body = new Blob(['some bytes']);
  let count = 0;
  const check = async (status: number, text: string, retryAfter: string): Promise<void> => {
    count += 1;
    const hash = count.toString(16).padStart(64, 'f');
    const fault = { status, body: text, headers: { 'retry-after': retryAfter } };
    await addFault({ operation: 'put', match: { hash }, times: -1, ...fault });
    const upload = {
      url: `${storageUrl}/chunks/someone/${hash}`,
      method: 'PUT' as const,
      headers: {},
      receivedAtMs: 0,
    };
    const sent = put(upload, body, { signal: forever });
    if (status >= 200 && status < 300) {
      await sent;
      return;
    }
    const error = await rejection(sent);
    expect(error).to.be.instanceOf(UploaderError);
    expect(isRetryable(error as UploaderError)).to.equal(true);
    expect((error as UploaderError).retryAfterMs ?? 0).to.be.within(0, 300_000);
  };
  const retryAfter = fc.constantFrom(
    '',
    '0',
    '-1',
    '1e9',
    'soon',
    'Fri, 31 Feb 2025 25:61:61 GMT',
    '9'.repeat(30),
  );
  await fc.assert(fc.asyncProperty(status, text, retryAfter, check), runs(150));
});

describe('random invalid responses', () => {
  const { XMLHttpRequest: Real } = globalThis;
  afterEach(() => {
    globalThis.XMLHttpRequest = Real;
  });

  it('end each PUT immediately, and only 2xx from the requested URL is a success', async () => {
    const url = 'https://storage.test/chunk?ticket=1';
    const body = new Blob(['some bytes']);
    const put = createPut({ baseUrl: 'https://api.test' });
    const cases: fc.Arbitrary<Met> = fc.record({
      end: fc.constantFrom<Met['end']>('onload', 'onload', 'onload', 'onerror', 'onabort'),
      status,
      text,
      headers,
      loaded: fc.array(fc.nat(1e6), { maxLength: 3 }),
      answeredBy: fc.constantFrom(url, url, url, '', 'https://storage.test/other', `${url}#`),
    });
    let storedCount = 0;
    const check = async (answer: Met): Promise<void> => {
      globalThis.XMLHttpRequest = answering(answer);
      const reported: number[] = [];
      const options = { signal: forever, onProgress: (bytes: number) => reported.push(bytes) };
      const upload = { url, method: 'PUT' as const, headers: {}, receivedAtMs: 0 };
      const error = await put(upload, body, options).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      const isStored =
        answer.end === 'onload' && answer.answeredBy === url && answer.status >= 200 && answer.status < 300;
      expect(error === undefined).to.equal(isStored);
      expect(reported.every((bytes) => bytes <= body.size)).to.equal(true);
      if (isStored) storedCount += 1;
      else {
        expect(error).to.be.instanceOf(UploaderError);
        expect(isRetryable(error as UploaderError)).to.equal(true);
        expect((error as UploaderError).retryAfterMs ?? 0).to.be.within(0, 300_000);
      }
    };
    await fc.assert(fc.asyncProperty(cases, check), runs(10_000));
    expect(storedCount).to.be.greaterThan(runs(10_000).numRuns / 100);
  });
});

/** Outcome of a request, and everything that the client can read of the response. */
interface Met {
  readonly end: 'onload' | 'onerror' | 'onabort';
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly loaded: readonly number[];
  readonly answeredBy: string;
}

/** Returns a fake `XMLHttpRequest` whose requests get this response without a network. */
function answering({ end, status, text, headers, loaded, answeredBy }: Met): typeof XMLHttpRequest {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  class Answered implements Partial<Record<Met['end'], () => void>> {
    onload?: () => void;
    onerror?: () => void;
    onabort?: () => void;
    readonly upload: { onprogress?: (event: { loaded: number }) => void; onload?: () => void } = {};
    readonly status = end === 'onload' ? status : 0;
    readonly responseURL = end === 'onload' ? answeredBy : '';
    readonly responseText = text;
    open(): void {}
    abort(): void {}
    setRequestHeader(): void {}
    getAllResponseHeaders = (): string => lines.join('');
    getResponseHeader = (name: string): string | null => headers[name] ?? null;
    send(): void {
      queueMicrotask(() => {
        for (const bytes of loaded) this.upload.onprogress?.({ loaded: bytes });
        this.upload.onload?.();
        this[end]?.();
      });
    }
  }
  return Answered as unknown as typeof XMLHttpRequest;
}
