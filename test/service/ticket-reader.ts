// Helpers that read the response to a presign request as the client does.

import { expect } from '@open-wc/testing';
import type { Profile } from '../../src/core/read-profile.ts';
import type { Ticket } from '../../src/core/types.ts';
import { fillProfile } from '../../src/service/profile.ts';
import { readTickets } from '../../src/service/wire.ts';

export const a = 'aa'.repeat(32);
export const b = 'bb'.repeat(32);
export const url = 'https://storage.example/put?sig=1';
const rules = { baseUrl: 'https://service.example', uploadOrigins: [] as string[], authHeader: 'X-Bearer' };

export function read(
  chunks: unknown,
  {
    hashes = [a],
    profile = {},
    date,
    ...own
  }: { hashes?: string[]; profile?: Profile; date?: string } & Partial<typeof rules> = {},
): Ticket[] {
  const headers = new Headers(date === undefined ? {} : { date });
  const header = (name: string): string | null => headers.get(name);
  const answer = { status: 200, address: '', body: { chunks }, isEmpty: false, header };
  return [...readTickets(answer, hashes, fillProfile(profile), { ...rules, ...own }).values()];
}

export const readOne = (entry: unknown, options: Parameters<typeof read>[1] = {}): Ticket | undefined =>
  read({ [a]: entry }, options)[0];

export const expectBad = (act: () => unknown, why?: string): void => {
  expect(act, why).to.throw().with.property('code', 'bad-response');
};
