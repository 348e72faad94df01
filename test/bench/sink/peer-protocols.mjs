// The protocols of the peers: plain PUT, S3 multipart, tus with creation and concatenation, and a call that returns URLs. Supports
// only what successful uploads and uploads resumed after a cut use. Bytes are dropped.
import { randomUUID } from 'node:crypto';

const xml = (root, fields) => ({
  status: 200,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0"?><${root}>${Object.entries(fields)
    .map(([name, value]) => `<${name}>${value}</${name}>`)
    .join('')}</${root}>`,
});

/** Implements a signing service: `POST /sign {path}` responds with `{url}`, a URL on the storage. */
export class SigningProtocol {
  #storageUrl;

  constructor({ storageUrl }) {
    this.#storageUrl = storageUrl;
  }

  async service({ method, path, json }) {
    if (method !== 'POST' || path !== '/sign') return undefined;
    const { path: wanted } = await json();
    return { status: 200, body: { url: `${this.#storageUrl}${wanted}` } };
  }
}

/** Implements `PUT /put/…`: reads the bytes and returns an ETag. */
export class PutProtocol {
  async storage({ method, path, receive }) {
    if (method !== 'PUT' || !path.startsWith('/put/')) return undefined;
    await receive();
    return { status: 200, headers: { etag: `"${randomUUID()}"` } };
  }
}

/** Implements `/s3/<key>`: multipart uploads and plain objects. */
export class S3Protocol {
  #uploads = new Map();

  async storage({ method, path, query, receive }) {
    if (!path.startsWith('/s3/')) return undefined;
    const key = path.slice('/s3/'.length);
    await receive();
    if (method === 'PUT') return this.#put(query);
    if (method === 'POST' && query.has('uploads')) {
      const UploadId = randomUUID();
      this.#uploads.set(UploadId, new Map());
      return xml('InitiateMultipartUploadResult', { Bucket: 'b', Key: key, UploadId });
    }
    if (method === 'POST') {
      return xml('CompleteMultipartUploadResult', {
        Location: `http://b/${key}`,
        Bucket: 'b',
        Key: key,
        ETag: '"x"',
      });
    }
    if (method === 'GET') return this.#list(query);
    return { status: 204 };
  }

  #put(query) {
    const etag = `"${randomUUID()}"`;
    this.#uploads.get(query.get('uploadId'))?.set(query.get('partNumber'), etag);
    return { status: 200, headers: { etag } };
  }

  #list(query) {
    const parts = [...(this.#uploads.get(query.get('uploadId')) ?? [])];
    const body = parts.map(
      ([number, etag]) => `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`,
    );
    return {
      status: 200,
      headers: { 'content-type': 'application/xml' },
      body: `<?xml version="1.0"?><ListPartsResult><IsTruncated>false</IsTruncated>${body.join('')}</ListPartsResult>`,
    };
  }
}

/** Implements `/tus`: creation, PATCH, HEAD, concatenation. Keeps the bytes of a cut PATCH, as tus servers do. */
export class TusProtocol {
  #storageUrl;
  #uploads = new Map();

  constructor({ storageUrl }) {
    this.#storageUrl = storageUrl;
  }

  async storage({ method, path, headers, receive }) {
    if (path === '/tus' && method === 'POST') return this.#create(headers, receive);
    if (!path.startsWith('/tus/')) return undefined;
    const upload = this.#uploads.get(path.slice('/tus/'.length));
    // A browser may repeat a PATCH automatically after its connection was cut. A repeated PATCH has an outdated offset, and its
    // bytes are not counted.
    const isNext = method === 'PATCH' && Number(headers['upload-offset']) === upload?.offset;
    await receive((piece) => {
      if (isNext) upload.offset += piece.length;
    });
    if (!upload) return { status: 404 };
    const said = {
      'tus-resumable': '1.0.0',
      'upload-offset': String(upload.offset),
      'cache-control': 'no-store',
    };
    if (method === 'PATCH') return { status: isNext ? 204 : 409, headers: said };
    return { status: 200, headers: { ...said, 'upload-length': String(upload.sizeBytes) } };
  }

  async #create(headers, receive) {
    const id = randomUUID();
    const upload = { sizeBytes: Number(headers['upload-length'] ?? 0), offset: 0 };
    this.#uploads.set(id, upload);
    await receive((piece) => {
      upload.offset += piece.length;
    });
    const said = {
      'tus-resumable': '1.0.0',
      location: `${this.#storageUrl}/tus/${id}`,
      'upload-offset': String(upload.offset),
    };
    return { status: 201, headers: said };
  }
}
