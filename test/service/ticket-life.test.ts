// Expiry of an upload URL, from the ticket, from the URL itself or from the profile.

import { expect } from '@open-wc/testing';
import { type read, readOne, url } from './ticket-reader.ts';

describe('the life of an upload URL', () => {
  const date = 'Tue, 03 Feb 2026 10:00:00 GMT';
  const now = '2026-02-03T10:00:00Z';
  const soon = '2026-02-03T10:05:00Z';
  /** Returns the lifetime of the upload URL in seconds, counted from the arrival of the response. */
  const lifeOf = (
    more: { upload_url?: string; expires_at?: unknown },
    options: Parameters<typeof read>[1] = {},
  ): number | undefined => {
    const upload = readOne({ upload_url: url, receipt: 'r', ...more }, { date, ...options })?.upload;
    const { expiresAtMs, receivedAtMs = Number.NaN } = upload ?? {};
    return expiresAtMs === undefined ? undefined : (expiresAtMs - receivedAtMs) / 1000;
  };

  it('is in the entry, in any of the usual forms, by the clock of the service', () => {
    const seconds = Date.parse(soon) / 1000;
    for (const expires_at of [
      soon,
      '2026-02-03T11:05:00+01:00',
      '2026-02-03T10:05:00',
      seconds,
      seconds * 1000,
    ]) {
      expect(lifeOf({ expires_at }), String(expires_at)).to.equal(300);
    }
  });

  it('may be a millisecond', () => {
    expect(lifeOf({ expires_at: '2026-02-03T10:00:00.001Z' })).to.be.closeTo(0.001, 1e-6);
  });

  it('is in the URL', () => {
    const signed = `${url}&X-Amz-Date=20260203T095900Z&X-Amz-Expires=300`;
    expect(lifeOf({ upload_url: signed })).to.equal(240);
    expect(lifeOf({ upload_url: `${url}&Expires=${Date.parse(soon) / 1000}` })).to.equal(300);
  });

  it("never exceeds that of the URL's signature, even if a clock is slow", () => {
    const upload_url = `${url}&X-Amz-Date=20260203T120000Z&X-Amz-Expires=300`;
    expect(lifeOf({ upload_url })).to.equal(300);
  });

  it('is unknown if it is missing, invalid, or already over', () => {
    for (const expires_at of [undefined, 'soon', '', {}, Number.NaN, -1, 1e11, '2026-02-03T09:00:00Z', now]) {
      expect(lifeOf({ expires_at }), String(expires_at)).to.equal(undefined);
    }
    for (const query of [
      'X-Amz-Date=x&X-Amz-Expires=300',
      'X-Amz-Date=20261303T095900Z&X-Amz-Expires=300',
      'X-Amz-Expires=300',
      'X-Amz-Date=20260203T095900Z',
      'X-Amz-Date=20260203T095900Z&X-Amz-Expires=60',
      'X-Amz-Date=20260203T095900Z&X-Amz-Expires=0',
      'Expires=soon',
      'Expires=1',
      'Expires=12345678',
      'Expires=999999999999',
      `Expires=${Date.parse(now) / 1000}`,
    ]) {
      expect(lifeOf({ upload_url: `${url}&${query}` }), query).to.equal(undefined);
    }
  });

  it('is set by the profile', () => {
    expect(lifeOf({ expires_at: soon }, { profile: { urlLifetime: () => 60 } })).to.equal(60);
    expect(lifeOf({ expires_at: soon }, { profile: { urlLifetime: () => undefined } })).to.equal(undefined);
    const urlLifetime = (): never => {
      throw new Error('of the page');
    };
    expect(() => lifeOf({}, { profile: { urlLifetime } }))
      .to.throw()
      .with.property('message')
      .that.includes('urlLifetime');
  });
});
