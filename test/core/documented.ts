// Tests that a checked-in document is what the sources give.

import { expect } from '@open-wc/testing';
import { sectionsOf } from './state-tables.ts';

/** Defines a test for each section of `text`: the document at `path` has the same lines. */
export function itIsDocumented(path: string, text: string): void {
  const sections = sectionsOf(text);
  let documented: typeof sections;
  before(async () => {
    documented = sectionsOf(await (await fetch(path)).text());
  });
  for (const [title, lines] of Object.entries(sections).filter(([title]) => title !== ''))
    it(`has exactly the results that ${path} shows below "${title}"`, () => {
      expect(lines).to.deep.equal(documented[title]);
    });
  it(`has no other states in ${path}`, () => {
    expect(Object.keys(documented)).to.deep.equal(Object.keys(sections));
  });
}
