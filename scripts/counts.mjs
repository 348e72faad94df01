// `node scripts/counts.mjs [folder] [--list]`: counts what makes the sources hard to read: exports, names that say only how a value
// came about, functions with many branches, long lines, and rejections that become undefined without a reason beside them. It
// passes or fails nothing.
import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import ts from 'typescript';
import { filesUnder } from './files.mjs';

const { values, positionals } = parseArgs({
  options: { list: { type: 'boolean' } },
  allowPositionals: true,
});
const root = resolve(positionals[0] ?? fileURLToPath(new URL('..', import.meta.url)));
const LONGEST_LINE = 120;
const MOST_BRANCHES = 20;
/** Entries whose exports are counted. */
const ENTRIES = ['src/index.ts', 'src/engine.ts'].filter((path) => existsSync(join(root, path)));

/** Participles, adverbs and adjectives that name a value without saying what it is. */
const BARE = new Set(
  `added after again all asked before changed checked chosen closed counted created done dropped ended found given gone handled held how
  kept known last late left listed loaded lost made met missing moved named next opened own passed picked previous put read ready refused
  renamed rest said saved seen sent shown started stopped stored taken told tried used waiting wanted`.split(
    /\s+/,
  ),
);
/** Those of them that are also verbs in the imperative. A function with such a name says what it does, and holds nothing. */
const VERBS = new Set(['put', 'read']);

const paths = filesUnder(root, ['src'], /\.ts$/).filter((path) => !path.startsWith('src/locales/'));
const program = ts.createProgram(
  [...paths, ...ENTRIES].map((path) => join(root, path)),
  {
    allowImportingTsExtensions: true,
    noEmit: true,
    target: ts.ScriptTarget.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    module: ts.ModuleKind.ESNext,
  },
);
const checker = program.getTypeChecker();
const sources = paths.map((path) => ({
  path,
  text: readFileSync(join(root, path), 'utf8'),
  tree: program.getSourceFile(join(root, path)),
}));

function walk(node, visit) {
  visit(node);
  node.forEachChild((child) => walk(child, visit));
}

const placeOf = (tree, node) =>
  `${relative(root, tree.fileName)}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;

/** Parameters of types name no value. */
const isBinding = (node) =>
  (ts.isVariableDeclaration(node) ||
    ts.isBindingElement(node) ||
    (ts.isParameter(node) && node.parent.body)) &&
  ts.isIdentifier(node.name);

const isFunction = (node) =>
  checker.getNonNullableType(checker.getTypeAtLocation(node.name)).getCallSignatures().length > 0;

/** Returns true for `done` in `{ done, value }`: iterators and readers name it so. */
const isOfIterator = (node) =>
  node.name.text === 'done' &&
  ts.isBindingElement(node) &&
  node.parent.elements.some((element) => (element.propertyName ?? element.name).getText() === 'value');

const isBare = (node) =>
  BARE.has(node.name.text) && !(VERBS.has(node.name.text) && isFunction(node)) && !isOfIterator(node);

const BRANCHES = new Set([
  ts.SyntaxKind.IfStatement,
  ts.SyntaxKind.ConditionalExpression,
  ts.SyntaxKind.CaseClause,
  ts.SyntaxKind.CatchClause,
  ts.SyntaxKind.ForStatement,
  ts.SyntaxKind.ForInStatement,
  ts.SyntaxKind.ForOfStatement,
  ts.SyntaxKind.WhileStatement,
  ts.SyntaxKind.DoStatement,
]);
const LOGICAL = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
  ts.SyntaxKind.AmpersandAmpersandEqualsToken,
  ts.SyntaxKind.BarBarEqualsToken,
  ts.SyntaxKind.QuestionQuestionEqualsToken,
]);

/** Returns the number of branches of a function, without those of functions in it. */
function branchesOf(body) {
  let count = 0;
  const visit = (node) => {
    if (ts.isFunctionLike(node)) return;
    if (BRANCHES.has(node.kind)) count += 1;
    if (ts.isBinaryExpression(node) && LOGICAL.has(node.operatorToken.kind)) count += 1;
    node.forEachChild(visit);
  };
  visit(body);
  return count;
}

const isNested = (node) =>
  ts.isConditionalExpression(node) &&
  ts.isConditionalExpression(node.parent) &&
  ts.isConditionalExpression(node.parent.parent);

/** Returns true for a handler that turns each error into `undefined`. */
const isEmpty = (handler) =>
  handler !== undefined &&
  (ts.isArrowFunction(handler) || ts.isFunctionExpression(handler)) &&
  /^(?:undefined|void 0|\{\s*\})$/.test(handler.body.getText());

/** Returns true for `.catch(() => undefined)`, `.then(use, () => undefined)` and `catch {}`. */
function isIgnored(node) {
  if (ts.isCatchClause(node)) return /^\{\s*\}$/.test(node.block.getText());
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { text } = node.expression.name;
  return (text === 'catch' && isEmpty(node.arguments[0])) || (text === 'then' && isEmpty(node.arguments[1]));
}

/** Returns true if the line of `position` is a comment, or ends with one. */
function hasComment(tree, position) {
  const line = tree.text.split('\n')[position] ?? '';
  return /^\s*(?:\/\/|\/?\*)|\s\/\/ /.test(line);
}

/** Returns true if a comment is directly above the statement or member of `node`, above its own line, or on that line. */
function hasReason(tree, node) {
  const lineOf = (position) => tree.getLineAndCharacterOfPosition(position).line;
  let whole = node;
  while (!ts.isStatement(whole) && !ts.isClassElement(whole) && !ts.isPropertyAssignment(whole))
    whole = whole.parent;
  const isCall = ts.isCallExpression(node);
  const own = lineOf(isCall ? node.expression.name.getStart() : node.getStart());
  return [lineOf(whole.getStart()) - 1, own - 1, own].some((line) => hasComment(tree, line));
}

let bindingCount = 0;
const lists = { bare: [], branches: [], nested: [], ignored: [], long: [] };
for (const { path, text, tree } of sources) {
  walk(tree, (node) => {
    if (isBinding(node)) {
      bindingCount += 1;
      if (isBare(node)) lists.bare.push(`${placeOf(tree, node)} ${node.name.text}`);
    }
    if (ts.isFunctionLike(node) && node.body) {
      const count = branchesOf(node.body);
      if (count > MOST_BRANCHES)
        lists.branches.push(`${placeOf(tree, node)} ${node.name?.getText() ?? ''} ${count}`);
    }
    if (isNested(node)) lists.nested.push(placeOf(tree, node));
    if (isIgnored(node) && !hasReason(tree, node)) lists.ignored.push(placeOf(tree, node));
  });
  for (const [index, line] of text.split('\n').entries())
    if (line.length > LONGEST_LINE && !/^\s*(?:\/\/|\*|\/\*)/.test(line))
      lists.long.push(`${path}:${index + 1}`);
}

for (const entry of ENTRIES) {
  const symbol = checker.getSymbolAtLocation(program.getSourceFile(join(root, entry)));
  console.log(`${entry}: ${checker.getExportsOfModule(symbol).length} exports`);
}
const perThousand = ((lists.bare.length / bindingCount) * 1000).toFixed(1);
const SAYS = {
  bare: `names that say only how a value came about (${perThousand} of 1,000)`,
  branches: `functions with more than ${MOST_BRANCHES} branches`,
  nested: 'conditions in a condition in a condition',
  ignored: 'rejections that become undefined, without a reason beside them',
  long: `lines of code with more than ${LONGEST_LINE} columns`,
};
for (const [name, says] of Object.entries(SAYS)) {
  console.log(`\n${lists[name].length} ${says}`);
  if (values.list) for (const line of lists[name]) console.log(`  ${line}`);
}
