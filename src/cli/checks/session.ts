// Opening a session.

import { isFields, isHeaderValue, MAX_TEXT, textField } from '../../service/wire.ts';
import { type Check, row, table } from '../check.ts';
import {
  accepts,
  describe,
  fail,
  isOk,
  isRefused,
  judge,
  judgeTime,
  pass,
  refuses,
  skip,
} from '../finding.ts';

const SECTION = 'open-a-session';
const MIB = 2 ** 20;

export const SESSION_CHECKS: readonly Check[] = table('session', [
  row('status', 'opens a session', SECTION, 'a 2xx', async (c) => accepts(await c.openOnce())),
  row(
    'redirect',
    'opens a session without a redirect',
    'what-the-service-must-do-for-a-page',
    'no 3xx',
    async (c) => {
      const { location } = await c.openOnce();
      return judge(
        location === '',
        location ? `a redirect to ${location}; set base-url to it` : 'no redirect',
      );
    },
  ),
  row('json', 'responds with a JSON object', SECTION, 'a JSON object', async (c) => {
    const response = await c.openOnce();
    return judge(isFields(response.json), describe(response));
  }),
  row('id', 'returns session_id', SECTION, `session_id, a text of 1 to ${MAX_TEXT} characters`, async (c) => {
    const response = await c.openOnce();
    const id = textField(response.json, 'session_id');
    return id === undefined ? fail(`no such session_id: ${describe(response)}`) : pass(id);
  }),
  row(
    'header-value',
    'returns the value of the session header',
    SECTION,
    'a value that the presign operation accepts, in the header, passport, token or session_id',
    async (c) => {
      const response = await c.openOnce();
      const value = (await c.dialect()).sessionOf(response);
      const setting = c.settings.lineOf('sessionHeader');
      return value ? pass(value, setting) : fail('no such value');
    },
  ),
  row(
    'header-characters',
    'returns a value that fits into a header',
    SECTION,
    'printable ASCII without spaces at the ends, at most 8,000 characters',
    async (c) => {
      const value = (await c.dialect()).sessionOf(await c.openOnce()) ?? '';
      return judge(isHeaderValue(value) && value.length <= 8000, `${value.length} characters`);
    },
  ),
  row('unique', 'opens another session for each file', SECTION, 'two session ids', async (c) => {
    const [one, other] = [await c.openOnce(), await c.open()];
    if (!isOk(other)) return fail(describe(other));
    return judge(textField(one.json, 'session_id') !== textField(other.json, 'session_id'), 'two responses');
  }),
  row('size', 'sends a short response', 'what-the-uploader-checks', 'at most 1 MiB', async (c) => {
    const { text } = await c.openOnce();
    return judge(text.length <= MIB, `${text.length} characters`);
  }),
  row(
    'time',
    'responds quickly',
    'what-the-uploader-checks',
    'at most 10 s, of the 30 s that the uploader waits',
    async (c) => judgeTime(await c.openOnce()),
  ),
  row(
    'chunk-size',
    'lets the uploader choose the chunk size, or names one',
    'your-service-differs-set-this',
    'no chunk size, or a number of bytes',
    async (c) => {
      const { json } = await c.openOnce();
      const fields = isFields(json) ? json : {};
      const name = Object.keys(fields).find((key) =>
        /^(?:chunk|part)_?(?:size|bytes)(?:_bytes)?$/i.test(key),
      );
      if (name === undefined) return pass('no chunk size');
      const value = fields[name];
      if (!Number.isSafeInteger(value) || Number(value) <= 0) return fail(`${name}: ${String(value)}`);
      return pass(`${name}: ${value}`, c.settings.setProfile('chunkSize', `({ body }) => body.${name}`));
    },
  ),
  row('unicode-name', 'accepts a name with umlauts, spaces and emoji', SECTION, 'a 2xx', async (c) =>
    accepts(await c.open({ file_name: 'Übersicht 2 – 📄 (neu).pdf'.normalize('NFC') })),
  ),
  row(
    'empty-file',
    'opens a session for an empty file',
    'your-service-differs-set-this',
    'a 2xx',
    async (c) => {
      const response = await c.open({ file_size: 0 });
      if (isOk(response)) return pass(describe(response));
      const isRefusal = response.status === 400 || response.status === 422;
      return isRefusal
        ? pass(describe(response), c.settings.setProfile('emptyFile', "'refuse'"))
        : fail(describe(response));
    },
  ),
  row(
    'large-file',
    'opens a session for a file of 20 GiB, or says that it is too large',
    'errors',
    'a 2xx, or 413',
    async (c) => {
      const response = await c.open({ file_size: 20 * 1024 * MIB });
      if (isOk(response)) return pass(describe(response));
      return response.status === 413
        ? pass(`${describe(response)}; set max-file-size`)
        : fail(describe(response));
    },
  ),
  row(
    'more-fields',
    'accepts a field that it does not use',
    'your-service-differs-set-this',
    'a 2xx or a 4xx',
    async (c) => {
      const response = await c.open({ x_unused: 'conform' });
      if (isRefused(response)) return pass(`${describe(response)}; send only fields that it needs`);
      return accepts(response);
    },
  ),
  row(
    'unknown-folder',
    'refuses an unknown folder',
    'errors',
    '403, 404 or 410, or another 4xx',
    async (c) => {
      const response = await c.open({ parent_id: 'conform-no-such-folder' });
      return isOk(response) ? skip('the service has every folder') : refuses(response);
    },
  ),
  row('bad-json', 'refuses a body that is not JSON', 'errors', 'a 4xx, because a 5xx is retried', async (c) =>
    refuses(await c.call('open', { body: '{"parent_id":' })),
  ),
  row('no-name', 'refuses a file without a name', 'errors', 'a 4xx, because a 5xx is retried', async (c) =>
    refuses(await c.open({ file_name: undefined })),
  ),
  row(
    'no-folder',
    'refuses a file without a folder',
    'errors',
    'a 4xx, because a 5xx is retried',
    async (c) => refuses(await c.open({ parent_id: undefined })),
  ),
  row('negative-size', 'refuses a negative size', 'errors', 'a 4xx, because a 5xx is retried', async (c) =>
    refuses(await c.open({ file_size: -1 })),
  ),
  row(
    'text-size',
    'refuses a size that is not a number',
    'errors',
    'a 4xx, because a 5xx is retried',
    async (c) => refuses(await c.open({ file_size: 'many' })),
  ),
  row(
    'path-name',
    'does not fail for a name with a path',
    'errors',
    'a 2xx or a 4xx, because a 5xx is retried',
    async (c) => {
      const response = await c.open({ file_name: '../../conform.bin' });
      return isOk(response) ? pass('a 2xx; check that the name is not used as a path') : refuses(response);
    },
  ),
  row('debuginfo', 'describes errors', 'errors', 'JSON with debuginfo, without the token', async (c) => {
    const { json, text } = await c.open({ file_size: -1 });
    const { token } = c.options;
    if (token !== undefined && text.includes(token)) return fail('the response contains the token');
    const debugInfo = textField(json, 'debuginfo');
    return debugInfo ? pass(debugInfo) : pass('no debuginfo; errors of the uploader then have no details');
  }),
]);
