// The rules behind the promises of SECURITY.md, each with the test that proves the rule, and a mutation that breaks the rule.
// scripts/check-security.mjs applies the mutations: it replaces `before`, which occurs exactly once in `file`, by `after`.
// scripts/security-evidence.mjs writes the list as a document.

import { consoleMutations } from './console-mutations.mjs';
import { exampleMutations } from './example-mutations.mjs';
import { photoMutations } from './photo-mutations.mjs';
import { serviceMutations } from './service-mutations.mjs';
import { settingsMutations } from './settings-mutations.mjs';
import { userMutations } from './user-mutations.mjs';

/**
 * @typedef {object} Mutation
 * @property {string} rule D: attacks, S: sign-in, K: file keeper, R: reference service, E: example for S3.
 * @property {string} says What holds.
 * @property {string} file
 * @property {string} before
 * @property {string} after
 * @property {string} test File of the test that must fail.
 * @property {string} title Title of the test that must fail.
 */

/** @type {Mutation[]} */
export const mutations = [
  ...consoleMutations,
  ...exampleMutations,
  ...photoMutations,
  ...serviceMutations,
  ...settingsMutations,
  ...userMutations,
  {
    rule: 'D2',
    says: 'Another function sends the bytes, without bearer, cookie and session',
    file: 'src/service/put.ts',
    before: 'xhr.open(upload.method, upload.url);',
    after: 'xhr.open(upload.method, upload.url);\n        xhr.withCredentials = true;',
    test: 'test/service/put.test.ts',
    title: 'carries no bearer, no cookie, no session and no content type of its own',
  },
  {
    rule: 'D3',
    says: "Only https, only origins of `upload-origins` if it is set (otherwise any https origin except the page's own), only `PUT` or `POST`, no headers of the uploader; browsers refuse theirs",
    file: 'src/service/ticket-checks.ts',
    before: 'if (!isListed && (uploadOrigins.length > 0 || isOwnOrigin(url)))',
    after: 'if (!isListed && isOwnOrigin(url))',
    test: 'test/service/tickets.test.ts',
    title: 'has one of the origins that the page allows',
  },
  {
    rule: 'D4',
    says: "A redirected chunk counts as failed; only the page's `connect-src` prevents the redirect itself",
    file: 'src/service/put.ts',
    before: 'if (answer.url !== url.href) {',
    after: "if (answer.url === '') {",
    test: 'test/service/put.test.ts',
    title: 'because it was redirected is rejected, even if the other URL succeeds',
  },
  {
    rule: 'D5',
    says: 'The size of a response is limited, and each field is validated; a chunk counts as stored without a request only if the response says so (an empty `upload_url`, or `profile.storedChunk`)',
    file: 'src/service/wire.ts',
    before: "const sessionId = textField(body, 'session_id');",
    after: "const sessionId = textField(body, 'session_id') ?? 'unknown';",
    test: 'test/service/client.test.ts',
    title: 'is a bad response if it is HTML, broken JSON or lacks fields',
  },
  {
    rule: 'D6',
    says: "A response must come from the page's origin and the window or frame of this sign-in, with its `state`, and have each parameter once; other responses are ignored",
    file: 'src/auth/authorize.ts',
    before: 'if (origin === location.origin && from && sender === from && read(data))',
    after: 'if (from && origin && sender && read(data))',
    test: 'test/e2e/auth-window.test.ts',
    title:
      'given perfectly shaped messages of another origin, another window or a wrong state, then nothing changes, and the real response still counts',
  },
  {
    rule: 'D10',
    says: 'The response of a redirect is in no URL of your page, and is removed from the storage immediately',
    file: 'src/auth/storage.ts',
    before: '  if (own) sessionStorage.removeItem(own[0]);\n',
    after: '',
    test: 'test/e2e/auth-window.test.ts',
    title:
      'given redirect mode and an empty queue, when the user signs in and returns, then URL, history and storage contain nothing of it',
  },
  {
    rule: 'D11',
    says: 'No property returns the token; an attribute `token` is ignored with a warning; a session printed on the console shows only its state',
    file: 'src/ui/secure-uploader.ts',
    before: '    this.#tokens.set(token);\n',
    after: "    this.#tokens.set(token);\n    this.setAttribute('data-token', String(token));\n",
    test: 'test/ui/upload.test.ts',
    title: 'accepts a token through the write-only property, and never returns it',
  },
  {
    rule: 'D12',
    says: 'No message contains a token or a presigned URL',
    file: 'src/service/http.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: code as text
    before: 'The token is not valid in the header "${name}"',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: code as text
    after: 'The token is not valid in the header "${name}": ${value}',
    test: 'test/service/http.test.ts',
    title: 'does not contain the token in an error if it is invalid in a header',
  },
  {
    rule: 'D13',
    says: 'Renewal of rejected tokens stops after three times without a successful call; 403 never causes a renewal',
    file: 'src/auth/machine.ts',
    before: 'fruitless >= times.renewalLimit && !isProven;',
    after: 'times.renewalLimit === 0;',
    test: 'test/auth/renewal.test.ts',
    title: 'stop after three renewals of rejected tokens without a successful call',
  },
  {
    rule: 'D14',
    says: "The record's key contains service, folder and `owner`; when `owner` changes, the token and the rows of the previous owner are removed (but not the user's session at the service: sign out there too); `signOut()` deletes everything, in every tab. Uploads that started before `owner` was set keep their token, so set `owner` together with `base-url`",
    file: 'src/engine/resume/same-file.ts',
    before: '    parts.owner,\n',
    after: '',
    test: 'test/engine/resume/file-identity.test.ts',
    title: 'is the same for the same upload and differs with each of its parts',
  },
  {
    rule: 'D15',
    says: 'Only the fields that SECURITY.md lists are saved',
    file: 'src/engine/resume/record.ts',
    before: 'return { version: VERSION, sessionId,',
    after: 'return { ...record, version: VERSION, sessionId,',
    test: 'test/engine/resume/upload-store.test.ts',
    title: 'has no field that the record does not have',
  },
  {
    rule: 'D16',
    says: 'Records are not trusted: a commit includes only chunks that were hashed after the page was loaded, and bytes that are read again must have the presigned hash. This has two limits. A commit that the service has accepted (202) is repeated with the hashes of the record, without the file. Outside Chromium on a desktop, only eight chunks are read again before the commit, so a change of other chunks may be missed. The service must compare the hash of each chunk that it stores',
    file: 'src/pipeline/hash.ts',
    before: 'const isAsRecorded = recorded?.hash === found.hash;',
    after: 'const isAsRecorded = recorded !== undefined;',
    test: 'test/pipeline/hash.test.ts',
    title: 'accepts a recorded chunk only if its bytes are the same',
  },
  {
    rule: 'D17',
    says: 'Names, and texts of the service in the form, are shown as text, without control and format characters',
    file: 'src/core/names.ts',
    before: '  text.replace(/(?!',
    after: '  text.replace(/^(?!',
    test: 'test/ui/states.test.ts',
    title: 'shows names as text, without characters that change their direction',
  },
  {
    rule: 'D18',
    says: 'The first file of dist/cdn has the hash of each part, the workers included; nothing else runs',
    file: 'src/cdn/part-loader.ts',
    before: '    integrity,\n    nonce,',
    after: "    integrity: '',\n    nonce,",
    test: 'test/e2e/journey-parts.test.ts',
    title: 'a part with other bytes does not run, and the page and the console say so',
  },
  {
    rule: 'D20',
    says: 'No inline code, no `eval`, Trusted Types; the tests run with the policy of the README, without violations',
    file: 'src/ui/secure-uploader.ts',
    before: '    const early = takeEarlyToken(this);\n',
    after: `    try { document.createElement('p').innerHTML = '<b></b>'; } catch {}
    const early = takeEarlyToken(this);\n`,
    test: 'test/e2e/journey-whole-way.test.ts',
    title: 'a user drops a file, signs in in the window, and the service has it byte for byte',
  },
  {
    rule: 'D21',
    says: "An upload URL on the page's own origin is refused unless `upload-origins` names this origin; then it is requested without cookies and referrer",
    file: 'src/service/put.ts',
    before: "    credentials: 'omit',",
    after: "    credentials: 'include',",
    test: 'test/e2e/transfer-own-origin.test.ts',
    title: 'a page that names its origin sends the bytes there, without cookies and referrer',
  },
  {
    rule: 'S1',
    says: 'The token is in one private variable, and no property or setting returns it: never in an attribute, the DOM, an event, storage, a URL, a log or an error',
    file: 'src/auth/shared-session.ts',
    before: 'const snapshot = (): AuthSnapshot => this.#snapshot;',
    after:
      'const snapshot = (): AuthSnapshot => ({ ...this.#snapshot, token: this.#token.value }) as AuthSnapshot;',
    test: 'test/auth/session.test.ts',
    title: 'exposes no secret',
  },
  {
    rule: 'S2',
    says: 'Verifier and state are in memory; for a redirect, they are in `sessionStorage`, and are removed before anything else happens',
    file: 'src/auth/authorize.ts',
    before: '    return runPopup(popup,',
    after:
      '    sessionStorage.setItem(STORED + request.state, request.verifier);\n    return runPopup(popup,',
    test: 'test/e2e/auth-security.test.ts',
    title:
      'S2: while a window is open, no data of its request is in any storage of the page, nor in the copy that the window got',
  },
  {
    rule: 'S3',
    says: 'Always PKCE with S256 and 32 random bytes; without Web Crypto no sign-in starts',
    file: 'src/auth/pkce.ts',
    before: 'code_challenge: challenge,',
    after: 'code_challenge: verifier,',
    test: 'test/auth/exchange.test.ts',
    title: 'uses S256 and exactly the documented parameters',
  },
  {
    rule: 'S4',
    says: "A response must come from the page's origin and the window of this sign-in, with its `state`, and have each parameter once. On the channel, it must come from the page's origin, with this `state`. With `issuer`, `iss` is required and must be equal; without `issuer`, an `iss` must have the origin of the service or of the sign-in page. Other responses are ignored",
    file: 'src/auth/pkce.ts',
    before: "parsed.get('state') === state",
    after: "parsed.has('state')",
    test: 'test/auth/exchange.test.ts',
    title: 'ignores a response with a wrong state or a code twice, and times out',
  },
  {
    rule: 'S5',
    says: 'A code is redeemed once; a second time only after 429, or 503 with `Retry-After`',
    file: 'src/auth/authorize.ts',
    before: "return failure.code === 'bad-config' ? ended(failure) : spent(failure);",
    after: "return failure && { type: 'rate-limited', waitMs: 0 };",
    test: 'test/auth/exchange.test.ts',
    title: 'never sends a code again if its outcome is unknown: a fresh code is requested, once',
  },
  {
    rule: 'S6',
    says: 'The callback URL is the configured one, has the page’s origin, and never changes',
    file: 'src/auth/settings.ts',
    before: '  if (url.origin !== location.origin)\n',
    after: "  if (url.origin === 'null')\n",
    test: 'test/auth/exchange.test.ts',
    title: 'rejects a callback page of another origin',
  },
  {
    rule: 'S7',
    says: 'No open redirect: the URL to return to is stored and has the page’s origin; URLs in responses are not followed',
    file: 'src/auth/callback.ts',
    // `replaceState` alone would refuse another origin, too.
    before: `    if (origin !== location.origin) return false;
    // An element on this page (\`page\`) must not take the response, and no page later than a minute.
    const answer = { params, page: performance.timeOrigin, answeredAtMs: Date.now() };
    sessionStorage.setItem(key, JSON.stringify({ ...stored, ...answer }));
    // \`location.replace\` would not load a page whose URL differs only in the fragment.
    history.replaceState(null, '', href);
    location.reload();`,
    after: '    location.replace(href + origin);',
    test: 'test/e2e/auth-security.test.ts',
    title: 'S7: a stored return URL on another origin is ignored',
  },
  {
    rule: 'S8',
    says: 'The token is sent only below `base-url`, and bytes are sent without token, session or cookie',
    file: 'src/service/http.ts',
    before: 'if (url.origin !== base.origin ||',
    after: 'if (',
    test: 'test/service/http.test.ts',
    title: 'goes to no other host, path or scheme, however it is written',
  },
  {
    rule: 'S9',
    says: '`window.closed` is only a hint; the callback page sends messages only to its own origin, waits for an acknowledgment, and shows a message if none arrives',
    file: 'src/auth/callback.ts',
    before: 'asker?.postMessage(answer, location.origin);',
    after: "asker?.postMessage(answer, '*');",
    test: 'test/e2e/auth-security.test.ts',
    title: 'S9: the callback page sends nothing to a page of another origin',
  },
  {
    rule: 'S10',
    says: 'The form is not shown in frames of other origins, the service’s pages cannot be framed, no URL fills in the form',
    file: 'src/ui/secure-uploader-login.ts',
    before: '  } catch {\n    return true;\n',
    after: '  } catch {\n    return false;\n',
    test: 'test/e2e/auth-check-frames.test.ts',
    title: 'then the form is not shown and says why',
  },
  {
    rule: 'S11',
    says: 'Works under a strict Content Security Policy with Trusted Types; a blocked request ends in an error',
    file: 'src/auth/authorize.ts',
    before: '  document.body.append(frame);\n',
    // The exception is caught, so that the test ends with the report of the violation.
    after: `  try { frame.insertAdjacentHTML('beforeend', '<b></b>'); } catch {}
  document.body.append(frame);\n`,
    test: 'test/e2e/auth-check-page.test.ts',
    title: 'works with zero violation reports',
  },
  {
    rule: 'S12',
    says: "Nothing secret is logged: the console has only warnings and errors for the page's developer (invalid settings, a sign-in without a response, a failed sign-out), of what `getToken` threw only the kind and the place in the page's code; no URL contains an email address (but `owner`, which the page sets, is the `login_hint` of sign-in with `authOptions.ownerField`)",
    file: 'src/auth/authorize.ts',
    before: "    if (event.type === 'token') next.demand = '';",
    after: "    if (event.type === 'token') console.info(event.bearer);",
    test: 'test/e2e/auth-security.test.ts',
    title: 'S12: signing in by window and by form, and an upload, write nothing to the console',
  },
  {
    rule: 'S13',
    says: 'Real forms in the light DOM that password managers fill in; codes can be pasted; input is read once and not stored',
    file: 'src/ui/views/login-step.ts',
    before: "autocomplete = 'current-password'",
    after: "autocomplete = 'off'",
    test: 'test/auth/login.test.ts',
    title: 'has the fields that password managers look for, visible to them',
  },
  {
    rule: 'S14',
    says: 'The challenge token is in memory, replaced by every response, and deleted at the end',
    file: 'src/auth/form.ts',
    before: "if (state !== 'login' && !challenge) this.#token = this.#verifier = undefined;",
    after: "if (state !== 'login' && !challenge) this.#verifier = undefined;",
    test: 'test/auth/form.test.ts',
    title: 'answers a challenge without a token with none, and not with that of a canceled one',
  },
  {
    rule: 'S15',
    says: 'A sign-in ends with the last element that uses it; a page that is unloaded permanently deletes its token',
    file: 'src/auth/shared-session.ts',
    before: 'if (this.#users.size > 0 || this.#life',
    after: 'if (this.#life',
    test: 'test/auth/session.test.ts',
    title: 'stays open when one of two users of it leaves, and ends when the last one has left',
  },
  {
    rule: 'K1',
    says: 'A file is given once',
    file: 'src/engine/resume/keeper/file-keeper.ts',
    before: '    keptFiles.delete(idOf(file));\n',
    after: '',
    test: 'test/e2e/journey-keeper-security.test.ts',
    title: 'the keeper gives a file to a page of the same service and owner, once',
  },
  {
    rule: 'K2',
    says: 'A sign-out and a change of `owner` drop all files',
    file: 'src/engine/resume/keeper/file-keeper.ts',
    before: '    dropMatching(() => true);\n    handedOut.clear();\n',
    after: '    return;\n',
    test: 'test/e2e/journey-keeper-security.test.ts',
    title: 'after a sign-out in another tab, the keeper gives nothing',
  },
  {
    rule: 'K3',
    says: 'A page of another owner gets nothing, and the files of the first owner are dropped',
    file: 'src/engine/resume/keeper/file-keeper.ts',
    before: "  if (ask.owner !== '') dropOthers(ask);\n",
    after: '',
    test: 'test/e2e/journey-keeper-security.test.ts',
    title: 'a page of another owner gets nothing, and the keeper drops the file',
  },
  {
    rule: 'K4',
    says: 'A page of another service gets nothing',
    file: 'src/engine/resume/keeper/keeper-messages.ts',
    before: 'keptFile.service === service && ',
    after: '',
    test: 'test/e2e/journey-keeper-security.test.ts',
    title: 'a page of another service gets nothing',
  },
  {
    rule: 'K5',
    says: 'Frames get nothing',
    file: 'src/engine/resume/keeper/file-keeper.ts',
    before: "source?.frameType === 'top-level' ||",
    after: "source?.frameType !== 'none' ||",
    test: 'test/e2e/journey-keeper-security.test.ts',
    title: 'a frame in a page of the same site gets nothing, neither its uploader nor its scripts',
  },
  {
    rule: 'K6',
    says: 'When no page has asked in time, the worker drops the files and unregisters itself',
    file: 'src/engine/resume/keeper/file-keeper.ts',
    before: 'scope.registration.unregister().then(endHold, endHold);',
    after: 'endHold();',
    test: 'test/e2e/journey-keeper-security.test.ts',
    title: 'when no page has asked in time, the keeper drops the file and unregisters itself',
  },
  {
    rule: 'K7',
    says: 'A page hands over files and nothing secret',
    file: 'src/engine/resume/keeper/keeper-client.ts',
    before: "isPaused: state.reason === 'user', service, owner };",
    after: "isPaused: state.reason === 'user', service, owner, ...record };",
    test: 'test/e2e/journey-keeper-security.test.ts',
    title: 'a page hands over files and nothing secret',
  },
];
