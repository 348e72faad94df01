// Checks pages with two independent checkers of accessibility: axe and IBM Equal Access.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright';

const { resolve } = createRequire(import.meta.url);
const CHECKERS = `${readFileSync(resolve('axe-core'), 'utf8')};
${readFileSync(resolve('accessibility-checker-engine/ace.js'), 'utf8')};
globalThis.ace = ace;`;

interface Checkers {
  readonly axe: {
    run(at: unknown): Promise<{
      readonly violations: readonly { readonly id: string; readonly nodes: readonly { html: string }[] }[];
    }>;
  };
  readonly ace: {
    readonly Checker: new () => {
      check(
        at: unknown,
        rules: readonly string[],
      ): Promise<{
        readonly results: readonly {
          readonly ruleId: string;
          readonly message: string;
          readonly snippet: string;
          readonly value: readonly [category: string, verdict: string];
        }[];
      }>;
    };
  };
}

/** HTML allows this pair, and password managers need it. Equal Access does not. */
const USERNAME = /autocomplete="username" type="email"/;

/**
 * Returns the violations in the element with the selector `at`, or in the whole page by default. Equal Access also lists what only
 * a person can check: these results are left out.
 */
export async function violationsOf(page: Page, at?: string): Promise<string[]> {
  await page.evaluate(CHECKERS);
  const found = await page.evaluate(async (at) => {
    const { axe, ace } = globalThis as unknown as Checkers;
    const { violations } = await axe.run(at ?? document);
    const place = at === undefined ? document : document.querySelector(at);
    const { results } = await new ace.Checker().check(place, ['WCAG_2_2']);
    return [
      ...violations.map(({ id, nodes }) => `axe ${id}: ${nodes[0]?.html}`),
      ...results
        .filter(({ value: [category, verdict] }) => category === 'VIOLATION' && verdict === 'FAIL')
        .map(({ ruleId, message, snippet }) => `Equal Access ${ruleId}: ${message} ${snippet}`),
    ];
  }, at);
  return found.filter((text) => !(text.includes('input_autocomplete_valid') && USERNAME.test(text)));
}

/** Asserts that an element, or the whole page, has no violation. */
export async function assertAccessible(page: Page, at: string | undefined, name: string): Promise<void> {
  assert.deepEqual(await violationsOf(page, at), [], name);
}
