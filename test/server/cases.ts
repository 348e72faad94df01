// What each service must answer to a request of an upload: the reference service, the example for S3, and yours. Tests send each
// case to both services, which share no code, and compare the answers with docs/openapi.json. They also send each file that is
// opened or committed in a batch.

/** What has happened to the upload before the request. Its file has one chunk of nine bytes, unless the stage says otherwise. */
export type Stage =
  | 'presigned'
  | 'stored'
  /** Its size was said to be a byte more. */
  | 'short'
  /** Its file has no bytes. */
  | 'empty'
  | 'done'
  | 'canceled';

/** What the services have said of the upload. */
export interface Known {
  readonly hash: string;
  readonly receipt: string;
  /** Of the same chunk in another session. */
  readonly foreignReceipt: string;
}

/** Where the interface leaves a choice, or one service is stricter, `why` says so. */
export interface Statuses {
  readonly reference: number;
  readonly example: number;
  readonly why: string;
}

export interface Case {
  readonly what: string;
  readonly call: 'open' | 'presign' | 'commit' | 'cancel' | 'batch';
  readonly stage?: Stage;
  /** A text is sent as it is. */
  readonly body?: unknown | ((known: Known) => unknown);
  readonly status: number | Statuses;
  /** Instead of the valid one; an empty text sends none. */
  readonly token?: string;
  readonly session?: string;
  /** Fields that the answer must have. */
  readonly answer?: (known: Known) => object;
}

const FILE = { parent_id: 'folder-a', file_name: 'a b.bin', file_size: 9 };
const BYTES_OF_NAME = 255;
const quoted = (value: unknown): string =>
  (JSON.stringify(value) ?? 'nothing').replace(/(.)\1{9,}/g, (all, sign) => `${sign} × ${all.length}`);

const opened: Case[] = [
  { what: 'a file', body: FILE, status: 201 },
  { what: 'a file without bytes', body: { ...FILE, file_size: 0 }, status: 201 },
  ...['ä b.bin', '👩‍🚀.png', 'نمی‌خواهم.txt', 'a'.repeat(BYTES_OF_NAME)].map((file_name) => ({
    what: `the name ${quoted(file_name)}`,
    ...{ body: { ...FILE, file_name }, status: 201 },
  })),
  ...['', '.', '..', 'a/b', '../a', 'a\\b', 'a\0b', 'a\nb', '\ud800', 'a'.repeat(256), null, 7, ['a']].map(
    (file_name) => ({ what: `the name ${quoted(file_name)}`, body: { ...FILE, file_name }, status: 400 }),
  ),
  {
    what: 'a name of a space',
    body: { ...FILE, file_name: ' ' },
    status: { reference: 400, example: 201, why: 'an object may have any name' },
  },
  {
    what: 'a name of 256 bytes in 128 characters',
    body: { ...FILE, file_name: 'é'.repeat(128) },
    status: { reference: 400, example: 201, why: 'the example counts characters' },
  },
  ...['a\u202egnp.exe', 'a\u2028b', 'a\u200bb', '\ufeffa'].map((file_name) => ({
    what: `the name ${quoted(file_name.replace(/./g, (sign) => `${sign.charCodeAt(0).toString(16)} `))}`,
    body: { ...FILE, file_name },
    status: { reference: 201, example: 400, why: 'the example refuses what could hide an extension' },
  })),
  ...[-1, 0.5, 1e300, '5', null, true].map((file_size) => ({
    what: `the size ${quoted(file_size)}`,
    ...{ body: { ...FILE, file_size }, status: 400 },
  })),
  { what: 'a file of 6 TiB', body: { ...FILE, file_size: 6 * 1024 ** 4 }, status: 413 },
  { what: 'a folder that is no text', body: { ...FILE, parent_id: 7 }, status: 400 },
  { what: 'a folder of others', body: { ...FILE, parent_id: 'folder-b' }, status: 403 },
].map((each) => ({ ...each, call: 'open' }));

const WRONG_HASHES = [['x'], 'x', null, {}, [5], [['a'.repeat(64)]], ['A'.repeat(64)], ['../x']];
const WRONG_SIZES = [[0], [-9], [1.5], ['9'], [9, 9], [], 9, null];
const presigned: Case[] = [
  { what: 'a chunk', body: ({ hash }: Known) => ({ hashes: [hash], sizes: [9] }), status: 200 },
  { what: 'no hashes', body: { hashes: [], sizes: [] }, status: 400 },
  ...WRONG_HASHES.map((hashes) => ({
    what: `the hashes ${quoted(hashes)}`,
    ...{ body: { hashes, sizes: [9] }, status: 400 },
  })),
  {
    what: '100 hashes',
    body: ({ hash }: Known) => ({ hashes: Array(100).fill(hash), sizes: Array(100).fill(9) }),
    status: 200,
  },
  {
    what: '101 hashes',
    body: ({ hash }: Known) => ({ hashes: Array(101).fill(hash), sizes: Array(101).fill(9) }),
    status: 413,
  },
  ...WRONG_SIZES.map((sizes) => ({
    what: `the sizes ${quoted(sizes)}`,
    body: ({ hash }: Known) => ({ hashes: [hash], sizes }),
    status: 400,
  })),
  ...[undefined, [10]].map((sizes) => ({
    what: `the sizes ${quoted(sizes)}`,
    body: ({ hash }: Known) => ({ hashes: [hash], sizes }),
    status: { reference: 200, example: 400, why: 'only the example signs the size of a chunk' },
  })),
  {
    what: 'a chunk that is stored',
    stage: 'stored' as const,
    body: ({ hash }: Known) => ({ hashes: [hash], sizes: [9] }),
    answer: ({ hash, receipt }: Known) => ({ chunks: { [hash]: { upload_url: null, receipt } } }),
    status: 200,
  },
  {
    what: 'a chunk of a file that is done',
    stage: 'done' as const,
    body: ({ hash }: Known) => ({ hashes: [hash], sizes: [9] }),
    status: { reference: 410, example: 200, why: 'the example gives receipts for a repeated commit' },
  },
  {
    what: 'a chunk of a file that is canceled',
    stage: 'canceled' as const,
    body: ({ hash }: Known) => ({ hashes: [hash], sizes: [9] }),
    status: { reference: 410, example: 404, why: 'both mean that the session has ended' },
  },
].map((each) => ({ stage: 'presigned', ...each, call: 'presign' }));

const proof = ({ hash, receipt }: Known): object => ({ hashes: [hash], receipts: [receipt] });
const committed: Case[] = [
  { what: 'a file', stage: 'stored' as const, body: proof, answer: () => ({ file_size: 9 }), status: 200 },
  { what: 'a file without bytes', stage: 'empty' as const, body: { hashes: [], receipts: [] }, status: 200 },
  {
    what: 'the same again',
    stage: 'done' as const,
    body: proof,
    answer: () => ({ file_size: 9 }),
    status: 200,
  },
  {
    what: 'other chunks than before',
    stage: 'done' as const,
    body: { hashes: [], receipts: [] },
    status: 422,
  },
  {
    what: 'a chunk that is not stored',
    body: proof,
    answer: ({ hash }: Known) => ({ missing: [hash] }),
    status: 409,
  },
  { what: 'chunks of fewer bytes than the file', stage: 'short' as const, body: proof, status: 422 },
  {
    what: 'a chunk twice',
    stage: 'stored' as const,
    body: ({ hash, receipt }: Known) => ({ hashes: [hash, hash], receipts: [receipt, receipt] }),
    status: 422,
  },
  { what: 'no chunks', stage: 'stored' as const, body: { hashes: [], receipts: [] }, status: 422 },
  ...[[], ['é'.repeat(64)], ['x'], null, 'x', [7]].map((receipts) => ({
    what: `the receipts ${quoted(receipts)}`,
    stage: 'stored' as const,
    body: ({ hash }: Known) => ({ hashes: [hash], receipts }),
    status: 400,
  })),
  {
    what: 'a receipt of another session',
    stage: 'stored' as const,
    body: ({ hash, foreignReceipt }: Known) => ({ hashes: [hash], receipts: [foreignReceipt] }),
    status: 400,
  },
  ...WRONG_HASHES.map((hashes) => ({
    what: `the hashes ${quoted(hashes)}`,
    body: ({ receipt }: Known) => ({ hashes, receipts: [receipt] }),
    status: 400,
  })),
  {
    what: '20,001 hashes',
    body: ({ hash }: Known) => ({ hashes: Array(20_001).fill(hash), receipts: [] }),
    status: { reference: 413, example: 400, why: 'S3 has at most 10,000 parts' },
  },
  {
    what: 'a file that is canceled',
    stage: 'canceled' as const,
    body: proof,
    status: { reference: 410, example: 404, why: 'both mean that the session has ended' },
  },
].map((each) => ({ stage: 'presigned', ...each, call: 'commit' }));

const canceled: Case[] = [
  { what: 'a file', stage: 'presigned' as const, status: 204 },
  { what: 'a file that is done', stage: 'done' as const, status: 409 },
  {
    what: 'a file that is canceled',
    stage: 'canceled' as const,
    status: { reference: 204, example: 404, why: 'the uploader takes both as a success' },
  },
].map((each) => ({ ...each, call: 'cancel' }));

const HASH = 'a'.repeat(64);
const ofHashes = (...counts: number[]): object[] =>
  counts.map((count) => ({ ...FILE, hashes: Array(count).fill(HASH), sizes: Array(count).fill(9) }));
const PROOF = { session: 'unknown', hashes: [HASH], receipts: ['x'] };
const batched: Case[] = [
  ...[{}, { open: [FILE], commit: [PROOF] }, { open: [FILE], commit: null }, { files: [FILE] }],
  ...[{ open: [] }, { commit: [] }, { open: FILE }, { commit: 'x' }, { open: null }, { open: { length: 1 } }],
]
  .map((body): Case => ({ what: quoted(body), call: 'batch', body, status: 400 }))
  .concat(
    [
      { what: '64 files', body: { open: Array(64).fill({ ...FILE, hashes: [] }) }, status: 200 },
      { what: '65 files', body: { open: Array(65).fill(FILE) }, status: 413 },
      { what: '65 commits', body: { commit: Array(65).fill(PROOF) }, status: 413 },
      { what: '100 hashes in two files', body: { open: ofHashes(40, 60) }, status: 200 },
      { what: '101 hashes in two files', body: { open: ofHashes(40, 61) }, status: 413 },
      { what: '101 hashes in 101 commits', body: { commit: Array(101).fill(PROOF) }, status: 413 },
      { what: 'files that are no objects', body: { open: [null, 7, 'x', []] }, status: 200 },
      { what: 'commits that are no objects', body: { commit: [null, 7, 'x', []] }, status: 200 },
    ].map((each) => ({ ...each, call: 'batch' })),
  );

const CALLS = ['open', 'presign', 'commit', 'cancel', 'batch'] as const;
const ofAll: Case[] = CALLS.flatMap((call): Case[] => {
  const hasSession = call !== 'open' && call !== 'batch';
  const stage = hasSession ? ({ stage: 'presigned' } as const) : {};
  const bodies = ['', '{', 'null', '[]', '"x"', '5', '{"a":1}garbage', '\ufeff'];
  return [
    ...['', 'nonsense'].map((token) => ({
      ...{ what: `the token ${quoted(token)}`, call, ...stage, token, status: 401 },
      ...(call !== 'cancel' && { body: {} }),
    })),
    ...(call === 'cancel'
      ? []
      : bodies.map((body) => ({ what: `the body ${quoted(body)}`, call, ...stage, body, status: 400 }))),
    ...(hasSession
      ? [
          {
            ...{ what: 'an unknown session', call, ...stage, session: 'unknown', status: 404 },
            ...(call !== 'cancel' && { body: {} }),
          },
        ]
      : []),
  ];
});

export const CASES: readonly Case[] = [
  ...opened,
  ...presigned,
  ...committed,
  ...canceled,
  ...batched,
  ...ofAll,
];
