// JSON of passkeys: the browser's options and the response for the service, with and without the browser's own parser.

import { expect } from '@open-wc/testing';
import { askPasskey } from '../../src/auth/form.ts';
import { rejection } from '../support/collect.ts';

const { signal } = new AbortController();
const service = { baseUrl: 'https://files.example.com/api', authOptions: {} };
const bytes = (...all: number[]): ArrayBuffer => new Uint8Array(all).buffer;

let asked: CredentialRequestOptions | undefined;
let answer: () => unknown = () => null;
const own = Object.getOwnPropertyDescriptor(globalThis, 'PublicKeyCredential');

/** Replaces the browser's parser of passkey options. `undefined` simulates a browser without this parser. */
function setReader(parseRequestOptionsFromJSON: ((json: unknown) => unknown) | undefined): void {
  Object.defineProperty(globalThis, 'PublicKeyCredential', {
    configurable: true,
    value: { parseRequestOptionsFromJSON },
  });
}

beforeEach(() => {
  asked = undefined;
  setReader(undefined);
  const get = async (request: CredentialRequestOptions): Promise<unknown> => {
    asked = request;
    return answer();
  };
  Object.defineProperty(navigator, 'credentials', { configurable: true, value: { get } });
});
afterEach(() => {
  Reflect.deleteProperty(navigator, 'credentials');
  if (own) Object.defineProperty(globalThis, 'PublicKeyCredential', own);
  else Reflect.deleteProperty(globalThis, 'PublicKeyCredential');
});

const response = (userHandle: ArrayBuffer | null) => ({
  clientDataJSON: bytes(1),
  authenticatorData: bytes(255, 254, 253),
  signature: bytes(251, 255),
  userHandle,
});
const credential = (more: object = {}) => ({
  id: 'id',
  rawId: bytes(1, 2),
  authenticatorAttachment: 'platform',
  response: response(null),
  toJSON: () => {
    throw new TypeError('not ours');
  },
  ...more,
});

describe('the passkey options', () => {
  const list = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (_, part) => (part instanceof Uint8Array ? [...part] : part)));

  it('are parsed by hand if the browser cannot', async () => {
    answer = () => credential();
    const request = {
      challenge: '-_8B',
      allowCredentials: [{ id: 'AQ' }, { id: 'Ag', type: 'x' }],
      timeout: 5,
    };
    for (const json of [request, { publicKey: request }]) {
      await askPasskey(json, service, signal);
      expect(asked?.signal).to.equal(signal);
      expect(list(asked?.publicKey)).to.deep.equal({
        challenge: [251, 255, 1],
        allowCredentials: [
          { id: [1], type: 'public-key' },
          { id: [2], type: 'public-key' },
        ],
        rpId: 'files.example.com',
        timeout: 5,
      });
    }
    await askPasskey({ challenge: 'AQ', allowCredentials: 'any' }, service, signal);
    expect(list(asked?.publicKey)).to.deep.include({ allowCredentials: [] });
  });

  it('are parsed by the browser if it can, with the host of the service', async () => {
    answer = () => credential();
    const read: unknown[] = [];
    const options = { challenge: new Uint8Array([9]) };
    setReader((json) => {
      read.push(json);
      return options;
    });
    await askPasskey({ challenge: 'AQ' }, service, signal);
    expect(read).to.deep.equal([{ challenge: 'AQ', rpId: 'files.example.com' }]);
    expect(asked?.publicKey).to.equal(options);
  });

  it('are missing for another domain, also if the page is on it, and if the request is invalid', async () => {
    for (const json of [
      { challenge: 'AQ', rpId: 'example.com' },
      { challenge: 'AQ', rpId: 'example.org' },
      { challenge: 'AQ', rpId: 7 },
      { challenge: '*' },
    ])
      expect(await rejection(askPasskey(json, service, signal))).to.include({ code: 'passkey-unavailable' });
    expect(asked).to.equal(undefined);
  });

  it('have the domain that the page allows, and no other', async () => {
    answer = () => credential();
    const allowing = { ...service, authOptions: { rpId: 'example.com' } };
    await askPasskey({ challenge: 'AQ', rpId: 'example.com' }, allowing, signal);
    expect(asked?.publicKey?.rpId).to.equal('example.com');
    const own = { challenge: 'AQ', rpId: 'files.example.com' };
    expect(await rejection(askPasskey(own, allowing, signal))).to.include({ code: 'passkey-unavailable' });
  });
});

describe('the passkey response', () => {
  it('is serialized by the browser, if it can', async () => {
    answer = () => credential({ toJSON: () => 'written' });
    expect(await askPasskey({ challenge: 'AQ' }, service, signal)).to.equal('written');
  });

  it('is serialized by hand if that throws', async () => {
    const written = {
      id: 'id',
      rawId: 'AQI',
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      response: { clientDataJSON: 'AQ', authenticatorData: '__79', signature: '-_8' },
    };
    answer = () => credential();
    expect(await askPasskey({ challenge: 'AQ' }, service, signal)).to.deep.equal(written);
    answer = () => credential({ response: response(bytes(7)) });
    expect(await askPasskey({ challenge: 'AQ' }, service, signal)).to.deep.equal({
      ...written,
      response: { ...written.response, userHandle: 'Bw' },
    });
  });

  for (const [title, code, act] of [
    ['missing if the user declined', 'passkey-canceled', new DOMException('no', 'NotAllowedError')],
    ['missing after an abort', 'passkey-canceled', new DOMException('no', 'AbortError')],
    ['missing if the browser refuses', 'passkey-unavailable', new DOMException('no', 'SecurityError')],
    [
      'missing after any other error',
      'passkey-unavailable',
      Object.assign(new Error('no'), { name: 'AbortError' }),
    ],
    ['missing if there is none', 'passkey-canceled', undefined],
  ] as const)
    it(`is ${title}`, async () => {
      answer = () => {
        if (act) throw act;
        return null;
      };
      expect(await rejection(askPasskey({ challenge: 'AQ' }, service, signal))).to.include({ code });
    });
});
