// The schemas of batches in docs/openapi.json: which bodies they allow. openapi.test.ts compares them with those of the services.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Description } from '../support/openapi.ts';
import { hashOf } from './support.ts';

const text = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
const description = new Description(JSON.parse(text));

test('docs/openapi.json has batches of one kind, and answers of one kind, each with a body', () => {
  const isValid = (name: string, value: unknown): boolean =>
    description.validatorAt(`/components/schemas/${name}`)(value) === true;
  const hash = hashOf(new Uint8Array());
  const open = [{ parent_id: 'folder-a', file_name: 'a', file_size: 0, hashes: [] }];
  const commit = [{ session: 'a', hashes: [hash], receipts: ['a'] }];
  for (const body of [{ open }, { commit }]) assert.ok(isValid('BatchRequest', body), JSON.stringify(body));
  for (const body of [
    ...[{}, { open: [] }, { commit: [] }, { open: commit }, { commit: open }, { open, commit }],
    ...[
      { open, commit: null },
      { open: null, commit },
      { open, commit: [] },
      { open: [], commit },
    ],
    ...[{ open: Array(65).fill(open[0]) }, { commit: Array(65).fill(commit[0]) }],
  ])
    assert.ok(!isValid('BatchRequest', body), JSON.stringify(body));
  const { oneOf } = description.at('/components/schemas/Batch/properties/answers/items').node;
  const kindsOf = (answer: unknown): string[] =>
    (oneOf as { $ref: string }[])
      .map(({ $ref }) => $ref.replace('#/components/schemas/', ''))
      .filter((name) => isValid(name, answer));
  const file = { file_id: 'a', file_name: 'a', file_size: 0 };
  for (const [answer, ...kinds] of [
    [{ status: 201, body: { session_id: 'a' } }, 'BatchOpened'],
    [{ status: 200, body: file }, 'BatchCommitted'],
    [{ status: 202, body: {}, retry_after: 2 }, 'BatchPending'],
    [{ status: 202, body: file }, 'BatchPending'],
    [{ status: 409, body: { debuginfo: 'a' } }, 'BatchError'],
    [{ status: 507, body: { debuginfo: 'a' }, retry_after: 5 }, 'BatchError'],
    ...[{ status: 202 }, { status: 202, body: null }, { status: 202, body: 'a' }, { status: 201 }].map(
      (each) => [each] as const,
    ),
    ...[401, 204, 302, 600].map((status) => [{ status, body: { debuginfo: 'a' } }] as const),
  ] as const)
    assert.deepEqual(kindsOf(answer), kinds, JSON.stringify(answer));
});
