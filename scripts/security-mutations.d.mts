/** Rules of SECURITY.md, each with its test and a mutation that breaks the rule. */
export const mutations: readonly {
  rule: string;
  says: string;
  file: string;
  before: string;
  after: string;
  test: string;
  title: string;
}[];
