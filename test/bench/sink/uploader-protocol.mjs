// The protocol of <secure-uploader>: session, presign, PUT, commit. Bytes are dropped; hashes and lengths are kept. Refuses a
// commit with missing chunks. With `remember`, returns only a receipt, without a URL, for a chunk that is stored.
import { randomUUID } from 'node:crypto';

/**
 * Handles calls to the service and to the storage. A handler returns `{status, headers, body}`, or undefined for calls of other
 * protocols.
 */
export class UploaderProtocol {
  #storageUrl;
  #remember;
  #sessions = new Map();
  #lengths = new Map();

  constructor({ storageUrl, remember }) {
    this.#storageUrl = storageUrl;
    this.#remember = remember;
  }

  async service({ method, path, headers, json }) {
    if (method !== 'POST') return undefined;
    if (path === '/files/uploadsession') return this.#openSession(await json());
    if (path === '/files/uploadsession/batch')
      return { status: 200, body: { answers: this.#answers(await json()) } };
    const session = this.#sessions.get(headers['x-service-uploadsession']);
    if (path === '/files/uploadsession/chunks') {
      const { hashes } = await json();
      if (!session) return { status: 404, body: { debuginfo: 'no such session' } };
      return {
        status: 200,
        body: { chunks: Object.fromEntries(hashes.map((hash) => [hash, this.#ticket(hash)])) },
      };
    }
    if (path === '/files/uploadsession/commit') {
      const { hashes } = await json();
      if (!session) return { status: 404, body: { debuginfo: 'no such session' } };
      return this.#commit(session, hashes);
    }
    return undefined;
  }

  async storage({ method, path, receive }) {
    if (method !== 'PUT' || !path.startsWith('/chunks/')) return undefined;
    const hash = path.slice('/chunks/'.length);
    this.#lengths.set(hash, await receive());
    return { status: 200 };
  }

  #openSession({ file_name: name, file_size: sizeBytes }) {
    const id = randomUUID();
    this.#sessions.set(id, { name, sizeBytes });
    return { status: 201, headers: { 'x-service-uploadsession': id }, body: { session_id: id } };
  }

  #answers({ open, commit }) {
    const opened = (file) => {
      const { status, body } = this.#openSession(file);
      const chunks = Object.fromEntries(file.hashes.map((hash) => [hash, this.#ticket(hash)]));
      return { status, body: { ...body, chunks } };
    };
    return open
      ? open.map(opened)
      : commit.map(({ session, hashes }) => this.#commit(this.#sessions.get(session), hashes));
  }

  #ticket(hash) {
    const receipt = `receipt.${hash}.${randomUUID()}`;
    if (this.#remember && this.#lengths.has(hash)) return { receipt, upload_url: null };
    return { receipt, upload_url: `${this.#storageUrl}/chunks/${hash}?signature=${randomUUID()}` };
  }

  #commit(session, hashes) {
    const missing = hashes.filter((hash) => !this.#lengths.has(hash));
    if (missing.length) return { status: 409, body: { missing } };
    const sizeBytes = hashes.reduce((sum, hash) => sum + this.#lengths.get(hash), 0);
    if (sizeBytes === session.sizeBytes) return { status: 200, body: { file_id: randomUUID() } };
    return {
      status: 400,
      body: { debuginfo: `${session.name}: ${sizeBytes} bytes came, ${session.sizeBytes} were announced` },
    };
  }
}
