// The reports of a run: progress and errors.

import { expect } from '@open-wc/testing';
import { UploaderError } from '../../src/core/errors.ts';
import type { StoredChunk } from '../../src/core/types.ts';
import { Progress } from '../../src/engine/transfer/progress.ts';
import { describeError, type RunContext, type RunTarget, reportsOf } from '../../src/engine/upload-run.ts';
import { plan } from '../../src/pipeline/plan.ts';
import { captureWarnings } from '../support/console.ts';

const ignore = (): void => undefined;

function setUp() {
  const upload = {
    id: 'a',
    unsentCount: 10,
    progress: new Progress(1000),
    connection: { service: { client: { auth: { snapshot: { state: 'signed-in', required: false } } } } },
  } as unknown as RunTarget;
  const reported: string[] = [];
  const context = {
    onBytesSent: ignore,
    report: ({ name }: { name: string }) => reported.push(name),
    throttle: { reportSoon: ignore },
  } as unknown as RunContext;
  const stop = new AbortController();
  return { reports: reportsOf(upload, context, stop.signal, ignore), reported, stop, upload };
}

describe('a run', () => {
  it('leaves its slots to others while it only verifies what is stored', () => {
    const { reports, upload } = setUp();
    const recorded = { hash: 'h', receipt: 'r' };
    const stored = new Map(Array.from({ length: 8 }, (_, index) => [index, recorded]));
    const chunks = plan(1000, 100, stored) as StoredChunk[];
    reports.onOpened(chunks, undefined);
    expect(upload.unsentCount).to.equal(2);
    for (const chunk of chunks) reports.onStored(chunk);
    expect(upload.unsentCount).to.equal(0);
  });

  it('reports nothing after an abort', () => {
    const { reported, reports, stop, upload } = setUp();
    stop.abort();
    const chunks = plan(1000, 100, new Map()) as StoredChunk[];
    reports.onOpened(chunks, undefined);
    for (const chunk of chunks) {
      reports.onHashed(chunk);
      reports.onStored(chunk);
    }
    expect(reported).to.deep.equal([]);
    expect(upload.unsentCount).to.equal(10);
  });
});

/** Returns all errors that `work` passes to `reportError`. */
function reportedBy(work: () => void): unknown[] {
  const own = globalThis.reportError;
  const reported: unknown[] = [];
  globalThis.reportError = (error: unknown) => reported.push(error);
  try {
    work();
  } finally {
    globalThis.reportError = own;
  }
  return reported;
}

describe('an error that ended an upload', () => {
  it('has its code, its status if there is one, and whether a retry can help; never its message', () => {
    const reported = reportedBy(() => {
      expect(describeError(new UploaderError('network', 'a secret'))).to.deep.equal({
        ...{ code: 'network', retryable: true },
      });
      expect(describeError(new UploaderError('service-failed', 'a secret', { status: 503 }))).to.deep.equal({
        ...{ code: 'service-failed', retryable: true, status: 503 },
      });
      expect(describeError(new UploaderError('file-too-large', 'a secret')).retryable).to.equal(false);
    });
    expect(reported).to.deep.equal([]);
  });

  it('is reported to the page if it is a defect of this package', () => {
    const defect = new TypeError('a secret');
    const reported = reportedBy(() => {
      expect(describeError(defect)).to.deep.equal({ code: 'service-failed', retryable: true });
    });
    expect(reported).to.deep.equal([defect]);
  });

  it("is reported to the page's author, once, if the page set an invalid value", () =>
    captureWarnings((warnings) => {
      for (const code of ['bad-config', 'bad-config', 'network'] as const)
        describeError(new UploaderError(code, `the ${code} of a test`));
      expect(warnings).to.deep.equal(['secure-uploader: the bad-config of a test']);
    }));
});
