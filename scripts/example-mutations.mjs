// The part of security-mutations.mjs for the example service for S3.

/** @type {import('./security-mutations.mjs').Mutation[]} */
export const exampleMutations = [
  {
    rule: 'E1',
    says: 'A wrong token is refused before the body is read',
    file: 'demo/examples/service-s3/uploads.ts',
    before: 'const { user } = await rightOf(request, operation, undefined);',
    after: "const user = String(request.headers.get('authorization'));",
    test: 'test/server/service-s3-shares.test.ts',
    title: 'refuses a wrong token before its body arrives, and then closes the connection',
  },
  {
    rule: 'E2',
    says: 'Eight requests of a user run at once in a process; others are refused before their bodies are read',
    file: 'demo/examples/service-s3/requests.ts',
    before: 'const REQUESTS_AT_ONCE = 8;',
    after: 'const REQUESTS_AT_ONCE = 800;',
    test: 'test/server/service-s3-shares.test.ts',
    title:
      'lets eight requests of a user run at once, and refuses others before their bodies, but no other user',
  },
  {
    rule: 'E3',
    says: 'A body is limited, whatever length it says',
    file: 'demo/examples/service-s3/requests.ts',
    before: '      isAllowed(weight);\n',
    after: '',
    test: 'test/server/service-s3-shares.test.ts',
    title: 'refuses a body that is too long, without its end, whatever length it says',
  },
  {
    rule: 'E4',
    says: 'A commit that is repeated never postpones itself',
    file: 'demo/examples/service-s3/files.ts',
    before: "if (state === 'open' && (await sessions.claim(id, '', hashes))) ring('committing');",
    after:
      "if (state === 'open' && (await sessions.claim(id, '', hashes))) ring('committing');\n    else await sessions.renew(id, '');",
    test: 'test/server/service-s3-turns.test.ts',
    title: 'a commit that is repeated while the process is busy is built in the background',
  },
  {
    rule: 'E5',
    says: 'The page of a trial, which has its token, is sent for its own names only',
    file: 'demo/examples/service-s3/page.ts',
    before: 'if (!isOwn) return',
    after: 'if (!isOwn && !request.headers.host) return',
    test: 'test/server/service-s3-page.test.ts',
    title: 'refuses each other name, which a foreign site could let resolve to this machine',
  },
  {
    rule: 'E6',
    says: 'URLs for browsers are signed with a key of their own, if there is one',
    file: 'demo/examples/service-s3/store.ts',
    before: "await signingKeys('urls')",
    after: "await signingKeys('service')",
    test: 'test/server/service-s3-keys.test.ts',
    title: 'for URLs are others than those of the service, if there are any',
  },
  {
    rule: 'E7',
    says: 'A presigned URL never outlives its key',
    file: 'demo/examples/service-s3/store.ts',
    before: 'const seconds = Math.min(URL_SECONDS, Math.floor(leftMs / 1000));',
    after: 'const seconds = leftMs > 0 ? URL_SECONDS : 0;',
    test: 'test/server/service-s3-keys.test.ts',
    title: 'end after their URLs',
  },
];
