// The peers, configured as their documentation recommends, with parts of 8 MiB if they upload in parts. Everything that does not
// depend on the files is created before the clock starts.
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

/**
 * Returns an upload with Uppy's S3 plugin: multipart for files over 100 MiB, as its documentation recommends, otherwise one PUT.
 */
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

/**
 * Returns an upload with Uppy's tus plugin: one request for each file, since the plugin's documentation advises against a chunk
 * size.
 */
export const uppyTus = ({ storage }) => {
  const uppy = new Uppy().use(UppyTus, { endpoint: `${storage}/tus` });
  return (files) => runUppy(uppy, files);
};

// Uploads six files at a time, for clients without a queue of files.
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

/**
 * Returns an upload with tus-js-client: six parallel ranges for a file over 100 MiB, otherwise one request. The documentation of
 * tus-js-client advises against a chunk size.
 */
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

/** Returns an upload with UpChunk: the parts of a file are sent one after the other to the same URL. */
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
