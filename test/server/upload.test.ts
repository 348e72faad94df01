// The upload operations over real HTTP, with real sealed tokens and with bytes on disk.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { compactVerify, createLocalJWKSet } from 'jose';
import {
  actAs,
  ask,
  begin,
  hashOf,
  type Person,
  page,
  put,
  type Rig,
  randomChunks,
  startRig,
  upload,
} from './support.ts';

let rig: Rig;
let alice: Person;
before(async () => {
  rig = await startRig();
  alice = await actAs(rig.service, 'alice');
});
after(() => rig.end());

test('a file is uploaded in chunks and downloaded byte for byte', async () => {
  const chunks = randomChunks(70_000, 70_000, 123);
  const committed = await upload(alice, chunks, { name: 'Übung.bin' });
  assert.equal(committed.status, 200);
  assert.equal(committed.body.file_name, 'Übung.bin');
  assert.equal(committed.body.file_size, 140_123);
  const answer = await fetch(`${rig.service.baseUrl}/files/${committed.body.file_id}`, {
    headers: { authorization: `Bearer ${alice.token}`, origin: page },
  });
  assert.equal(answer.headers.get('content-length'), '140123');
  assert.match(
    answer.headers.get('content-disposition') ?? '',
    /^attachment; filename\*=UTF-8''%C3%9Cbung\.bin$/,
  );
  assert.equal(hashOf(new Uint8Array(await answer.arrayBuffer())), hashOf(Buffer.concat(chunks)));
});

test('opening a session returns its id and a sealed passport that reveals nothing', async () => {
  const { status, headers, body } = await alice.open({ name: 'secret-name.txt', size: 5 });
  assert.equal(status, 201);
  assert.equal(typeof body.session_id, 'string');
  const passport = headers.get('x-service-uploadsession') ?? '';
  assert.equal(passport, body.passport);
  assert.equal(passport.split('.').length, 5);
  assert.ok(!Buffer.from(passport, 'base64url').toString('latin1').includes('secret-name'));
  assert.match(headers.get('access-control-expose-headers') ?? '', /x-service-uploadsession/);
});

test('an empty file is a session and a commit without chunks', async () => {
  const committed = await upload(alice, [], { name: 'empty' });
  assert.equal(committed.status, 200);
  const answer = await alice.get(`/files/${committed.body.file_id}`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-length'), '0');
});

test('a receipt can be verified with the published key', async () => {
  const started = await begin(alice, randomChunks(10));
  const { body } = await ask(rig.service, 'GET', '/.well-known/jwks.json');
  const { payload } = await compactVerify(started.receipts[0] ?? '', createLocalJWKSet(body));
  assert.deepEqual(JSON.parse(new TextDecoder().decode(payload)), {
    session: started.sessionId,
    hash: started.hashes[0],
  });
});

test('a chunk that the same user has stored gets a receipt and no URL', async () => {
  const chunks = randomChunks(2000, 3000);
  await upload(alice, chunks);
  const again = await begin(alice, [...chunks, ...randomChunks(10)]);
  assert.deepEqual(
    again.urls.map((url) => url === null),
    [true, true, false],
  );
  const copy = await upload(alice, chunks);
  assert.equal(copy.status, 200);
});

test('a chunk that another user has stored still gets a URL', async () => {
  const chunks = randomChunks(4000);
  await upload(alice, chunks);
  const vic = await actAs(rig.service, 'vic');
  assert.ok((await begin(vic, chunks)).urls[0]);
});

test('two files of one name in a folder are both kept', async () => {
  const first = await upload(alice, randomChunks(10), { name: 'twice.txt' });
  const second = await upload(alice, randomChunks(10), { name: 'twice.txt' });
  assert.notEqual(first.body.file_id, second.body.file_id);
});

test('a folder with unique names refuses the second with 409', async () => {
  const file = { name: 'once.txt', folder: 'folder-unique' };
  const early = await begin(alice, randomChunks(10), file);
  await put(early.urls[0] ?? '', early.chunks[0] ?? new Uint8Array());
  assert.equal((await upload(alice, randomChunks(10), file)).status, 200);
  const late = await alice.open({ ...file, size: 10 });
  assert.equal(late.status, 409);
  assert.equal(typeof late.body.debuginfo, 'string');
  const lost = await alice.commit(early.passport, early.hashes, early.receipts);
  assert.deepEqual([lost.status, lost.body.missing], [409, undefined]);
});

test('commit lists the chunks that are not stored', async () => {
  const { passport, hashes, receipts, urls, chunks } = await begin(alice, randomChunks(10, 20, 30));
  await put(urls[1] ?? '', chunks[1] ?? new Uint8Array());
  const answer = await alice.commit(passport, hashes, receipts);
  assert.equal(answer.status, 409);
  assert.deepEqual(answer.body.missing, [hashes[0], hashes[2]]);
  assert.equal(typeof answer.body.debuginfo, 'string');
});

test('repeating a finished commit gives the same response, at once or later', async () => {
  const { passport, hashes, receipts, urls, chunks } = await begin(alice, randomChunks(10, 20));
  for (const [index, url] of urls.entries()) await put(url ?? '', chunks[index] ?? new Uint8Array());
  const both = await Promise.all([
    alice.commit(passport, hashes, receipts),
    alice.commit(passport, hashes, receipts),
  ]);
  const later = await alice.commit(passport, hashes, receipts);
  assert.deepEqual([both[0].status, both[1].status, later.status], [200, 200, 200]);
  assert.deepEqual(both[0].body, both[1].body);
  assert.deepEqual(later.body, both[0].body);
  const other = await alice.commit(passport, hashes.toReversed(), receipts.toReversed());
  assert.equal(other.status, 422);
});

test('commit refuses a receipt of another session, of another chunk, and an invented one', async () => {
  const chunks = randomChunks(10, 20);
  const first = await begin(alice, chunks);
  for (const [index, url] of first.urls.entries()) await put(url ?? '', chunks[index] ?? new Uint8Array());
  const second = await begin(alice, chunks);
  const tries = [first.receipts, second.receipts.toReversed(), ['x', 'y'], [second.receipts[0] ?? '']];
  for (const receipts of tries) {
    const answer = await alice.commit(second.passport, second.hashes, receipts);
    assert.equal(answer.status, 400);
  }
  assert.equal((await alice.commit(second.passport, second.hashes, second.receipts)).status, 200);
});

test('commit refuses chunks that do not add up to the size of the file', async () => {
  const { passport, hashes, receipts, urls, chunks } = await begin(alice, randomChunks(10, 20));
  for (const [index, url] of urls.entries()) await put(url ?? '', chunks[index] ?? new Uint8Array());
  const less = await alice.commit(passport, hashes.slice(0, 1), receipts.slice(0, 1));
  assert.equal(less.status, 422);
  const [hash = '', receipt = ''] = [hashes[0], receipts[0]];
  const more = await alice.commit(passport, [...hashes, hash], [...receipts, receipt]);
  assert.equal(more.status, 422);
});

test('a chunk that occurs twice in a file is uploaded once and used in both positions', async () => {
  const [a = new Uint8Array(), b = new Uint8Array()] = randomChunks(100, 50);
  const committed = await upload(alice, [a, b, a]);
  assert.equal(committed.body.file_size, 250);
});

test('the bytes on disk are stored under the user and the hash, and nowhere else', async () => {
  const [chunk = new Uint8Array()] = randomChunks(999);
  await upload(alice, [chunk], { name: 'x' });
  const stored = join(rig.dataDir, 'users', 'user-alice', 'chunks', hashOf(chunk));
  assert.deepEqual(new Uint8Array(await readFile(stored)), new Uint8Array(chunk));
  assert.deepEqual(await readdir(join(rig.dataDir, 'incoming')), []);
});

test('a folder lists its files, newest first', async () => {
  await upload(alice, randomChunks(1), { name: 'older', folder: 'folder-b' });
  rig.service.clock.shift(1000);
  await upload(alice, randomChunks(1), { name: 'newer', folder: 'folder-b' });
  const { body } = await alice.get('/files?parent_id=folder-b');
  assert.deepEqual(
    body.files.map((file: { file_name: string }) => file.file_name),
    ['newer', 'older'],
  );
});

test('a canceled session is deleted, and its chunks with it', async () => {
  const other = await startRig();
  const person = await actAs(other.service, 'alice');
  const { passport, hashes, urls, chunks } = await begin(person, randomChunks(10, 20));
  await put(urls[0] ?? '', chunks[0] ?? new Uint8Array());
  const cancel = (): Promise<{ status: number }> =>
    ask(other.service, 'DELETE', '/files/uploadsession', {
      headers: { authorization: `Bearer ${person.token}`, 'x-service-uploadsession': passport },
    });
  assert.equal((await cancel()).status, 204);
  assert.equal((await cancel()).status, 204);
  assert.equal((await person.presign(passport, hashes)).status, 410);
  assert.equal((await person.commit(passport, [], [])).status, 410);
  assert.ok((await begin(person, chunks)).urls[0], 'the chunk has to be sent again');
  await other.end();
});

test('a restarted service keeps its sessions, chunks, tokens and files', async () => {
  const other = await startRig();
  const person = await actAs(other.service, 'alice');
  const started = await begin(person, randomChunks(10, 20));
  await put(started.urls[0] ?? '', started.chunks[0] ?? new Uint8Array());
  await other.restart();
  const again = await person.presign(started.passport, started.hashes);
  const [stored = '', missing = ''] = started.hashes;
  assert.equal(again.body.chunks[stored].upload_url, null);
  assert.equal(again.body.chunks[stored].receipt, started.receipts[0]);
  assert.equal((await put(started.urls[1] ?? '', started.chunks[1] ?? new Uint8Array())).status, 200);
  assert.ok(again.body.chunks[missing].upload_url);
  const committed = await person.commit(started.passport, started.hashes, started.receipts);
  assert.equal(committed.status, 200);
  await other.restart();
  assert.equal((await person.get(`/files/${committed.body.file_id}`)).status, 200);
  await other.end();
});

test('a commit with the hash of the file is refused if the stored bytes have another one', async () => {
  const chunks = randomChunks(9, 7);
  const started = await begin(alice, chunks);
  for (const [index, url] of started.urls.entries()) await put(url ?? '', chunks[index] ?? new Uint8Array());
  const commit = (fileHash: unknown): ReturnType<Person['commit']> =>
    alice.commit(started.passport, started.hashes, started.receipts, fileHash);
  for (const fileHash of [null, 7, '', 'A0'.repeat(32)]) assert.equal((await commit(fileHash)).status, 400);
  const wrong = await commit(hashOf(randomChunks(16)[0] ?? new Uint8Array()));
  assert.equal(wrong.status, 422);
  assert.match(wrong.body.debuginfo, /file_hash/);
  assert.equal((await commit(hashOf(Buffer.concat(chunks)))).status, 200);
});
