// The peers, each configured as its own documentation recommends, with parts of 8 MiB if it has parts. Everything that needs no
// file is created before the clock starts.
import { UpChunk } from '@mux/upchunk';
import AwsS3 from '@uppy/aws-s3';
import Uppy from '@uppy/core';
import UppyTus from '@uppy/tus';
import { Upload } from 'tus-js-client';

const PART_BYTES = 8 * 2 ** 20;
const SMALL_FILE_BYTES = 100 * 2 ** 20;

async function runUppy(uppy, files) {
  uppy.addFiles(files.map((file) => ({ name: file.name, type: file.type, data: file })));
  const { failed } = await uppy.upload();
  if (failed.length) throw new Error(String(failed[0].error));
}

/** Uppy's S3 plugin: multipart as its documentation says (files over 100 MiB), else one PUT. */
export const uppyS3 = ({ address }) => {
  const query = ({ method, uploadId, partNumber }) => {
    if (partNumber) return `?partNumber=${partNumber}&uploadId=${uploadId}`;
    if (uploadId) return `?uploadId=${uploadId}`;
    return method === 'POST' ? '?uploads=' : '';
  };
  const uppy = new Uppy().use(AwsS3, {
    shouldUseMultipart: (file) => file.size > SMALL_FILE_BYTES,
    getChunkSize: () => PART_BYTES,
    signRequest: async (request) => ({
      url: await address(`/s3/${encodeURIComponent(request.key)}${query(request)}`),
    }),
  });
  return (files) => runUppy(uppy, files);
};

/** Uppy's tus plugin. Its documentation advises against a chunk size: the file is one request. */
export const uppyTus = ({ storage }) => {
  const uppy = new Uppy().use(UppyTus, { endpoint: `${storage}/tus` });
  return (files) => runUppy(uppy, files);
};

// The clients below have no queue of files; a page for browsers would send six at once.
async function sixAtOnce(files, upload) {
  let next = 0;
  const lane = async () => {
    while (next < files.length) {
      next += 1;
      await upload(files[next - 1]);
    }
  };
  await Promise.all(Array.from({ length: 6 }, lane));
}

/** tus-js-client with six ranges at once (one for a small file); its documentation advises against a chunk size here too. */
export const tusJs = ({ storage }) => {
  const upload = (file) =>
    new Promise((resolve, reject) => {
      new Upload(file, {
        endpoint: `${storage}/tus`,
        retryDelays: [0, 3000, 5000, 10000, 20000],
        parallelUploads: file.size > SMALL_FILE_BYTES ? 6 : 1,
        metadata: { filename: file.name, filetype: file.type },
        onSuccess: resolve,
        onError: reject,
      }).start();
    });
  return (files) => sixAtOnce(files, upload);
};

/** UpChunk: parts one after the other to one URL. */
export const upchunk = ({ address }) => {
  const upload = (file) =>
    new Promise((resolve, reject) => {
      const one = UpChunk.createUpload({
        endpoint: async () => address(`/put/${encodeURIComponent(file.name)}`),
        file,
        chunkSize: PART_BYTES / 1024,
      });
      one.on('success', resolve);
      one.on('error', ({ detail }) => reject(new Error(detail.message)));
    });
  return (files) => sixAtOnce(files, upload);
};
