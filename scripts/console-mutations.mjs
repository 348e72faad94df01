// The part of security-mutations.mjs for the console: messages for developers name what is wrong, and quote nothing.

/** @type {import('./security-mutations.mjs').Mutation[]} */
export const consoleMutations = [
  {
    rule: 'D70',
    says: 'Of what `getToken` returned instead of a token, the console has only the kind',
    file: 'src/core/explanations.ts',
    before: "return 'Got a text that is no token';",
    after: 'return returned;',
    test: 'test/auth/console-messages.test.ts',
    title: 'instead of a token, and nothing of it',
  },
  {
    rule: 'D71',
    says: 'Of a header that a script of the page adds to a request, the console has the name without the value',
    file: 'src/service/silence.ts',
    before: '[...headers.keys()].filter((name) =>',
    after: '[...headers].map(String).filter((name) =>',
    test: 'test/service/silence.test.ts',
    title: 'names a header that a script of the page adds, and no value',
  },
  {
    rule: 'D73',
    says: 'Of an upload URL that is not https, the console has only scheme and host, without what signs it',
    file: 'src/service/ticket-checks.ts',
    before: 'url.protocol}//',
    after: 'url.href}//',
    test: 'test/service/tickets.test.ts',
    title: 'that is not https is named without what signs it: no repeat of the request helps',
  },
];
