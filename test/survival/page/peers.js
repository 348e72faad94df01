// The other uploaders, as their documentation says, with all that helps them: Uppy's S3 plugin always in parts, Golden Retriever
// without its limit of 10 MiB, and a page that repeats its own requests for tokens and signed URLs.
import AwsS3 from '@uppy/aws-s3';
import Uppy from '@uppy/core';
import GoldenRetriever from '@uppy/golden-retriever';
import { Upload } from 'tus-js-client';

const PART_BYTES = 5 * 2 ** 20;
const RESTORE_LIMIT_MS = 3000;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Calls `send` until its response is good: nine times, with growing pauses. */
async function ask(send) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const response = await send();
      if (!response.ok) throw new Error(`status ${response.status}`);
      return await response.json();
    } catch (error) {
      if (attempt === 8) throw error;
      await wait(Math.min(8000, 500 * 2 ** attempt));
    }
  }
}

const createSign = ({ service }) => {
  const post = (path, init) =>
    fetch(service + path, { method: 'POST', signal: AbortSignal.timeout(15_000), ...init });
  let bearer = { expiresAt: 0 };
  return (path) =>
    ask(async () => {
      if (bearer.expiresAt < Date.now()) {
        const { token, expires_at } = await ask(() => post('/token'));
        bearer = { token, expiresAt: Date.parse(expires_at) - 3000 };
      }
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${bearer.token}` };
      return post('/sign', { headers, body: JSON.stringify({ path }) });
    });
};

const queryOf = ({ method, uploadId, partNumber }) => {
  if (partNumber) return `?partNumber=${partNumber}&uploadId=${uploadId}`;
  if (uploadId) return `?uploadId=${uploadId}`;
  return method === 'POST' ? '?uploads=' : '';
};

function createUppy(journey, place) {
  const sign = createSign(place);
  const uppy = new Uppy({ autoProceed: false }).use(AwsS3, {
    shouldUseMultipart: () => true,
    getChunkSize: () => PART_BYTES,
    signRequest: (request) => sign(`/s3/${encodeURIComponent(request.key)}${queryOf(request)}`),
  });
  uppy.on('upload-success', () => journey.change('done'));
  uppy.on('upload-error', (_file, error) => journey.change('failed', error));
  uppy.on('error', (error) => journey.change('failed', error));
  journey.click = () => {
    journey.change('running');
    return uppy.retryAll();
  };
  return uppy;
}

async function uploadWith(uppy, file) {
  uppy.addFile({ name: file.name, type: file.type, data: file });
  await uppy.upload();
}

/** Uppy with its S3 plugin. */
export const uppyS3 = async (journey, place) => {
  const uppy = createUppy(journey, place);
  return (file) => uploadWith(uppy, file);
};

/** The same with Golden Retriever. A file that it restores continues, as with the button of Uppy's dashboard. */
export const goldenRetriever = async (journey, place) => {
  const uppy = createUppy(journey, place);
  const restored = new Promise((resolve) => uppy.on('restored', () => resolve(true)));
  uppy.use(GoldenRetriever, { indexedDB: { maxFileSize: 1e9, maxTotalSize: 4e9 } });
  if (place.isReturn && (await Promise.race([restored, wait(RESTORE_LIMIT_MS)])) && !place.isBeside) {
    const [file] = uppy.getFiles();
    if (file && !file.isGhost) {
      journey.change('running', 'restored');
      uppy.emit('restore-confirmed');
    }
  }
  return (file) => uploadWith(uppy, file);
};

/** tus-js-client, which continues an upload of an earlier visit. */
export const tusJs =
  async (journey, { storage }) =>
  (file) =>
    new Promise((resolve) => {
      const upload = new Upload(file, {
        endpoint: `${storage}/tus`,
        retryDelays: [0, 3000, 5000, 10000, 20000],
        metadata: { filename: file.name },
        onSuccess: () => journey.change('done'),
        onError: (error) => journey.change('failed', error),
      });
      journey.click = () => {
        journey.change('running');
        upload.start();
      };
      resolve(
        upload.findPreviousUploads().then(([previous]) => {
          if (previous) upload.resumeFromPreviousUpload(previous);
          upload.start();
        }),
      );
    });
