// Reading of the response that opens a session, and of a commit response that lists missing chunks.

import { expect } from '@open-wc/testing';
import type { Profile } from '../../src/core/read-profile.ts';
import type { Answer } from '../../src/service/http.ts';
import { fillProfile } from '../../src/service/profile.ts';
import { commitBody, presignBody, readMissing, readSession } from '../../src/service/wire.ts';

const answerOf = (body: unknown, headers: Record<string, string> = {}): Answer => {
  const all = new Headers(headers);
  return { status: 200, address: '', body, isEmpty: false, header: (name) => all.get(name) };
};

describe('the session header', () => {
  const headerOf = (body: unknown, headers?: Record<string, string>, profile: Profile = {}): string =>
    readSession(answerOf(body, headers), fillProfile(profile)).header;

  it('is the header of that name, else the passport, else the token, else the id', () => {
    const body = { session_id: 'id', token: 'token', passport: 'passport' };
    expect(headerOf(body, { 'X-Service-UploadSession': 'header' })).to.equal('header');
    expect(headerOf(body)).to.equal('passport');
    expect(headerOf({ session_id: 'id', token: 'token' })).to.equal('token');
    expect(headerOf({ session_id: 'id', passport: null, token: '' })).to.equal('id');
  });

  it('is set by the profile', () => {
    const sessionHeader: Profile['sessionHeader'] = ({ body, header }) => `${String(body.seal)}-${header}`;
    const headers = { 'x-service-uploadsession': 'h' };
    expect(headerOf({ session_id: 'id', seal: 's' }, headers, { sessionHeader })).to.equal('s-h');
  });

  it('is never a value that a header cannot hold, and missing without an id', () => {
    for (const body of [
      { session_id: 'id', passport: 'a\r\nAuthorization: b' },
      { session_id: 'ïd' },
      { session_id: ' ' },
      { session_id: 'x'.repeat(20_000) },
      { passport: 'p' },
      [],
      null,
      'session_id',
    ]) {
      expect(() => headerOf(body), JSON.stringify(body))
        .to.throw()
        .with.property('code', 'bad-response');
    }
  });

  it('is an error of the page if its profile throws', () => {
    const sessionHeader = (): string => {
      throw new Error('of the page');
    };
    expect(() => headerOf({ session_id: 'id' }, {}, { sessionHeader }))
      .to.throw()
      .with.property('code', 'bad-config');
  });
});

describe('hashes on the wire', () => {
  const hash = 'fb'.repeat(32);

  it('are hex, base64 or base64url, with sizes if the profile says so', () => {
    const body = (profile: Profile): unknown => presignBody([{ hash, sizeBytes: 7 }], fillProfile(profile));
    expect(body({})).to.deep.equal({ hashes: [hash] });
    expect(body({ hashEncoding: 'base64' })).to.deep.equal({ hashes: [`${'+/v7'.repeat(10)}+/s=`] });
    expect(body({ hashEncoding: 'base64url' })).to.deep.equal({ hashes: [`${'-_v7'.repeat(10)}-_s`] });
    expect(body({ sendSizes: true })).to.deep.equal({ hashes: [hash], sizes: [7] });
  });

  it('are converted back to hex if a commit lacks them, each once', () => {
    const missingOf = (missing: unknown, profile: Profile = {}): string[] | undefined =>
      readMissing(answerOf({ missing }), [hash, 'aa'], fillProfile(profile));
    expect(missingOf([hash.toUpperCase(), hash])).to.deep.equal([hash]);
    expect(missingOf([`${'+/v7'.repeat(10)}+/s=`], { hashEncoding: 'base64' })).to.deep.equal([hash]);
    expect(missingOf([])).to.equal(undefined);
    expect(missingOf('all')).to.equal(undefined);
    for (const foreign of ['bb', 7, null, '__proto__']) {
      expect(() => missingOf([hash, foreign]))
        .to.throw()
        .with.property('code', 'bad-response');
    }
  });

  it('have the same encoding in a commit, with the receipts beside them', () => {
    const proof = { hashes: [hash], receipts: ['r'] };
    const sent = (profile: Profile): unknown =>
      JSON.parse(JSON.stringify(commitBody(proof, fillProfile(profile))));
    expect(sent({})).to.deep.equal(proof);
    const encoded = { hashes: [`${'-_v7'.repeat(10)}-_s`], receipts: ['r'] };
    expect(sent({ hashEncoding: 'base64url' })).to.deep.equal(encoded);
  });
});
