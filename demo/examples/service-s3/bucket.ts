// Creates the bucket, its CORS rules and its lifecycle rules: `npm run bucket`. Needs more rights than the service, so it takes the
// keys of the settings, if there are any, whatever `credentials` returns.
import { createHash } from 'node:crypto';
import { settings } from './settings.ts';
import { call, type StoreError } from './store.ts';

const cors = `<CORSConfiguration><CORSRule>
  <AllowedOrigin>${settings.pageOrigin}</AllowedOrigin>
  <AllowedMethod>PUT</AllowedMethod>
  <AllowedHeader>content-type</AllowedHeader>
  <AllowedHeader>x-amz-content-sha256</AllowedHeader>
  <AllowedHeader>x-amz-checksum-sha256</AllowedHeader>
  <AllowedHeader>x-amz-acl</AllowedHeader>
  <ExposeHeader>ETag</ExposeHeader>
  <ExposeHeader>Retry-After</ExposeHeader>
  <ExposeHeader>Date</ExposeHeader>
  <MaxAgeSeconds>600</MaxAgeSeconds>
</CORSRule></CORSConfiguration>`;

const lifecycle = `<LifecycleConfiguration>
  <Rule><ID>chunks</ID><Filter><Prefix>chunks/</Prefix></Filter><Status>Enabled</Status>
    <Expiration><Days>14</Days></Expiration></Rule>
  <Rule><ID>parts</ID><Filter><Prefix>files/</Prefix></Filter><Status>Enabled</Status>
    <AbortIncompleteMultipartUpload><DaysAfterInitiation>2</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>
</LifecycleConfiguration>`;

const put = (key: string, body = ''): Promise<string> => {
  const md5 = createHash('md5').update(body).digest('base64');
  return call('PUT', key, { body, headers: { 'content-md5': md5 }, keys: settings.store.keys });
};

await put('').catch((error: Error) => {
  if ((error as StoreError).status !== 409) throw error; // The bucket exists.
});
await put('?cors', cors);
await put('?lifecycle', lifecycle);
console.log('The bucket is ready.');
