// Whether pages may see the id of an upload session: only if its header, which is secret, does not follow from the id.

import { expect } from '@open-wc/testing';
import type { Profile } from '../../src/core/read-profile.ts';
import type { Session } from '../../src/core/types.ts';
import { readRecord, type SavedRecord, writeRecord } from '../../src/engine/resume/record.ts';
import { isIdSecret } from '../../src/engine/secret-id.ts';
import { fillProfile } from '../../src/service/profile.ts';
import { readSession } from '../../src/service/wire.ts';
import { answerOf } from '../service/answer-of.ts';
import { fileOf } from '../support/bytes.ts';
import { world } from '../support/world.ts';
import { recordOf } from './resume/saved.ts';

const ID = 'upload/7f3a-91>?~';

/** Returns the session of a response with this body and header. */
const open = (body: object, sessionHeader?: Profile['sessionHeader'], header?: string): Session =>
  readSession(
    answerOf({
      body: { session_id: ID, ...body },
      ...(header !== undefined && { headers: { 'x-service-uploadsession': header } }),
    }),
    fillProfile(sessionHeader ? { sessionHeader } : {}),
  );

const utf8 = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text));

describe('the id of a session is secret', () => {
  const derived: Readonly<Record<string, Session>> = {
    'if it is the header': { sessionId: ID, header: ID },
    'if the header ends with it': { sessionId: ID, header: `Upload ${ID}` },
    'if the header begins with it': { sessionId: ID, header: `${ID}.v1` },
    'if the header contains it in capitals': { sessionId: ID, header: `x-${ID.toUpperCase()}-y` },
    'if the header is a part of it': { sessionId: ID, header: '7f3a-91' },
    'in a URL': { sessionId: ID, header: `id=${encodeURIComponent(ID)}&v=1` },
    'as Base64': { sessionId: ID, header: `v1.${btoa(ID)}` },
    'as Base64 of UTF-8': { sessionId: 'größe', header: btoa(utf8('größe')) },
    'as Base64 that begins before it': { sessionId: ID, header: btoa(`v1:${ID}:x`) },
    'as Base64 that begins two bytes before it': { sessionId: ID, header: `v1/${btoa(`k:${ID}`)}` },
    'as Base64 for URLs, after other letters': {
      sessionId: ID,
      header: `v1_${btoa(`k${ID}`).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`,
    },
    'as hex': { sessionId: 'abcd', header: '0x61626364' },
    'if it is so short that the header may have it by chance': { sessionId: '123', header: 'h-4711' },
    'if the page adds to it': open({}, ({ body }) => `Upload ${body.session_id} 1`),
    'if the page computes the header': open({}, ({ body }) =>
      [...String(body.session_id)].map((c) => c.charCodeAt(0)).join(''),
    ),
    'if the page computes it of a secret, too': open({ pass: 'p4ss' }, ({ body }) => `${body.pass}:9`),
  };
  for (const [when, session] of Object.entries(derived))
    it(when, () => expect(isIdSecret(session)).to.equal(true));
});

describe('the id of a session is not secret', () => {
  const own: Readonly<Record<string, Session>> = {
    'if the service sends another header': open({}, undefined, 'h-4711'),
    'if the header is Base64 of something else': {
      sessionId: ID,
      header: btoa('another text, as long as it'),
    },
    'if it has four letters': { sessionId: '1234', header: 'h-4711' },
    'if the body has the header': open({ passport: 'p-4711' }),
    'if the page takes the header from the body': open(
      { data: { upload: { ticket: 't-4711' } } },
      ({ body }) => (body.data as { upload: { ticket: string } }).upload.ticket,
    ),
    'if the page takes the header of the response': open({}, ({ header }) => header ?? '', 'h-4711'),
  };
  for (const [when, session] of Object.entries(own))
    it(when, () => expect(isIdSecret(session)).to.equal(false));
});

describe('a header that the page has computed', () => {
  it('is looked for in responses of any depth', () => {
    const deep = (inner: string): object =>
      JSON.parse(`${'['.repeat(20_000)}"${inner}"${']'.repeat(20_000)}`);
    const sessionHeader = (): string => 't-4711';
    expect(open({ deep: deep('t-4711') }, sessionHeader).isDerived).to.equal(undefined);
    expect(open({ deep: deep('t-4712') }, sessionHeader).isDerived).to.equal(true);
  });

  it('is still known as such after a reload', () => {
    for (const isDerived of [true, undefined] as const) {
      const session = { sessionId: ID, header: 'h', ...(isDerived && { isDerived }) };
      const record: SavedRecord = { ...recordOf(), chunksId: 'chunks', session };
      expect(readRecord(writeRecord(record))?.session).to.deep.equal(session);
    }
  });

  it('keeps the id out of the changes', async () => {
    const engine = world();
    const { openSession } = engine.service.calls;
    Object.assign(engine.service.calls, {
      openSession: async (...given: Parameters<typeof openSession>) => ({
        ...(await openSession(...given)),
        header: 'c0ffee',
        isDerived: true,
      }),
    });
    engine.service.answerAll();
    await engine.uploader.addFiles([fileOf(1, 2500, 'a.bin')]);
    await engine.waitForChange('uploads-finished');
    expect(engine.details('upload-completed')[0]).not.to.have.property('sessionId');
  });
});
