// The endpoints of the other uploaders, and the page's own for tokens: S3 multipart uploads with signed URLs that expire, and tus.
// Keeps the bytes until an object is complete, then its SHA-256.
import { createHash, randomUUID } from 'node:crypto';

const sum = (pieces, algorithm = 'sha256') => {
  const hash = createHash(algorithm);
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
};
const xml = (root, content) => ({
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0"?><${root}>${content}</${root}>`,
});
const NO_UPLOAD = { status: 404, ...xml('Error', '<Code>NoSuchUpload</Code>') };

export class Peers {
  /** The SHA-256 of all complete objects. */
  hashes = new Set();
  #createToken;
  #storageUrl;
  #urlLifetimeMs;
  #tokens = new Map();
  #s3 = new Map();
  #tus = new Map();
  #routes;

  constructor({ createToken, storageUrl, urlLifetimeMs }) {
    this.#createToken = createToken;
    this.#storageUrl = storageUrl;
    this.#urlLifetimeMs = urlLifetimeMs;
    this.#routes = [
      ['service', /^\/token$/, this.#answerToken],
      ['service', /^\/sign$/, this.#answerSign],
      ['storage', /^\/s3\//, this.#answerS3],
      ['storage', /^\/tus$/, this.#createTus],
      ['storage', /^\/tus\//, this.#answerTus],
    ].map(([name, pattern, answer]) => ({ name, pattern, answer: answer.bind(this) }));
  }

  has(name, path) {
    return this.#routes.some((route) => route.name === name && route.pattern.test(path));
  }

  /** Resolves with the response to a call. */
  handle(name, call) {
    return this.#routes.find((route) => route.name === name && route.pattern.test(call.path)).answer(call);
  }

  loseUploads() {
    this.#s3.clear();
    this.#tus.clear();
  }

  async #answerToken({ receive }) {
    await receive();
    const created = await this.#createToken();
    this.#tokens.set(created.token, Date.parse(created.expires_at));
    return { body: created };
  }

  async #answerSign({ headers, json }) {
    const { path } = await json();
    const expiresAt = this.#tokens.get(headers.authorization?.slice('Bearer '.length)) ?? 0;
    if (expiresAt < Date.now()) return { status: 401, body: { debuginfo: 'the token has expired' } };
    const url = new URL(path, this.#storageUrl);
    url.searchParams.set('expires', Date.now() + this.#urlLifetimeMs);
    return { body: { url: url.href } };
  }

  async #answerS3({ method, path, query, read }) {
    if (Number(query.get('expires')) < Date.now())
      return { status: 403, ...xml('Error', '<Code>AccessDenied</Code>') };
    const body = await read();
    const id = query.get('uploadId');
    if (method === 'POST' && query.has('uploads')) return this.#createS3(path);
    const parts = this.#s3.get(id);
    if (!parts) return NO_UPLOAD;
    if (method === 'PUT') {
      const etag = `"${sum([body], 'md5')}"`;
      parts.set(Number(query.get('partNumber')), { body, etag });
      return { headers: { etag } };
    }
    const listed = [...parts].sort(([one], [other]) => one - other);
    if (method === 'GET')
      return xml('ListPartsResult', `<IsTruncated>false</IsTruncated>${listed.map(partOf).join('')}`);
    this.#s3.delete(id);
    if (method === 'DELETE') return { status: 204 };
    this.hashes.add(sum(listed.map(([, part]) => part.body)));
    return xml(
      'CompleteMultipartUploadResult',
      `<Location>http://b${path}</Location><Bucket>b</Bucket><Key>k</Key><ETag>"x"</ETag>`,
    );
  }

  #createS3(path) {
    const id = randomUUID();
    this.#s3.set(id, new Map());
    return xml(
      'InitiateMultipartUploadResult',
      `<Bucket>b</Bucket><Key>${path.slice('/s3/'.length)}</Key><UploadId>${id}</UploadId>`,
    );
  }

  async #createTus({ headers, receive }) {
    const id = randomUUID();
    this.#tus.set(id, { sizeBytes: Number(headers['upload-length']), offset: 0, pieces: [] });
    await receive();
    return { status: 201, headers: { 'tus-resumable': '1.0.0', location: `${this.#storageUrl}/tus/${id}` } };
  }

  async #answerTus({ method, path, headers, receive }) {
    const upload = this.#tus.get(path.slice('/tus/'.length));
    if (!upload) return { status: 404 };
    const say = (status) => ({
      status,
      headers: {
        'tus-resumable': '1.0.0',
        'upload-offset': String(upload.offset),
        'upload-length': String(upload.sizeBytes),
        'cache-control': 'no-store',
      },
    });
    // Each request ends the one before, whose connection may be dead.
    const owner = {};
    upload.owner = owner;
    if (method !== 'PATCH') return say(200);
    if (Number(headers['upload-offset']) !== upload.offset) return say(409);
    await receive((bytes) => {
      if (upload.owner !== owner) return;
      upload.pieces.push(bytes);
      upload.offset += bytes.length;
    });
    if (upload.owner !== owner) return say(409);
    if (upload.offset === upload.sizeBytes) this.hashes.add(sum(upload.pieces));
    return say(204);
  }
}

const partOf = ([number, { etag, body }]) =>
  `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag><Size>${body.length}</Size></Part>`;
