// Finds the mutants of a source file, and creates a copy of the file that contains all mutants. At run time, each mutant can be
// activated by its id.
import ts from 'typescript';

const swaps = new Map([
  ['===', ['!==']],
  ['!==', ['===']],
  ['==', ['!=']],
  ['!=', ['==']],
  ['<', ['<=', '>=']],
  ['<=', ['<', '>']],
  ['>', ['>=', '<=']],
  ['>=', ['>', '<']],
  ['&&', ['||']],
  ['||', ['&&']],
  ['??', ['&&']],
  ['+', ['-']],
  ['-', ['+']],
  ['*', ['/']],
  ['/', ['*']],
  ['%', ['*']],
  ['&', ['|']],
  ['|', ['&']],
  ['^', ['&']],
  ['<<', ['>>']],
  ['>>', ['<<']],
  ['>>>', ['<<']],
  ['+=', ['-=']],
  ['-=', ['+=']],
  ['*=', ['/=']],
  ['/=', ['*=']],
  ['??=', ['&&=']],
  ['||=', ['&&=']],
  ['&&=', ['||=']],
]);
const negations = new Set(['===', '!==', '==', '!=']);
const opposites = new Map([
  ['<', '>='],
  ['<=', '>'],
  ['>', '<='],
  ['>=', '<'],
]);

/**
 * Largest number that is treated as a count. A larger number is a size or a time, where a difference of one has no effect; the
 * mutant of a larger number is 0.
 */
const largestCounted = 10;

const isText = (node) =>
  ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node);

const isNothing = (node) =>
  node.kind === ts.SyntaxKind.NullKeyword ||
  ts.isVoidExpression(node) ||
  (ts.isIdentifier(node) && node.text === 'undefined');

const isBoolean = (node) =>
  node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword;

const isNot = (node) => ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken;

const bare = (node) => (ts.isParenthesizedExpression(node) ? bare(node.expression) : node);

function conditionOf(node) {
  if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) return node.expression;
  if (ts.isForStatement(node) || ts.isConditionalExpression(node)) return node.condition;
  return undefined;
}

const isCondition = (node) => {
  let child = node;
  while (ts.isParenthesizedExpression(child.parent)) child = child.parent;
  return conditionOf(child.parent) === child;
};

/** Returns true for names and module paths, which are not executed. */
function isName(node) {
  const { parent } = node;
  if (ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent) || ts.isMethodDeclaration(parent))
    return parent.name === node;
  if (ts.isCallExpression(parent)) return parent.expression.kind === ts.SyntaxKind.ImportKeyword;
  return ts.isTaggedTemplateExpression(parent) || ts.isImportAttribute(parent);
}

/** Returns true for texts that only developers read: messages of errors, and warnings. */
function isDeveloperMessage(node) {
  let child = node;
  while (!ts.isCallExpression(child.parent) && !ts.isNewExpression(child.parent)) {
    const { parent } = child;
    const isJoined =
      ts.isTemplateSpan(parent) ||
      ts.isTemplateExpression(parent) ||
      ts.isParenthesizedExpression(parent) ||
      ts.isConditionalExpression(parent) ||
      (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.PlusToken);
    if (!isJoined) return false;
    child = parent;
  }
  const call = child.parent;
  const callee = call.expression.getText();
  const place = call.arguments?.indexOf(child) ?? -1;
  if (place < 0) return false;
  if (ts.isNewExpression(call))
    return callee === 'UploaderError' ? place === 1 : /Error$/.test(callee) && place === 0;
  if (callee === 'toUploaderError') return place === 2;
  return /^(console\.\w+|warn\w*)$/.test(callee);
}

/** Returns true for a part of an optional chain. Parentheses around such a part would change what the chain skips. */
function isInsideChain(node) {
  const { parent } = node;
  const isLink =
    ts.isPropertyAccessExpression(parent) ||
    ts.isElementAccessExpression(parent) ||
    ts.isCallExpression(parent) ||
    ts.isNonNullExpression(parent);
  return isLink && parent.expression === node && (ts.isOptionalChain(node) || ts.isNonNullExpression(parent));
}

const isSkipped = (node) =>
  ts.isTypeNode(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isImportDeclaration(node) ||
  ts.isExportDeclaration(node) ||
  ts.isEnumDeclaration(node) ||
  (ts.canHaveModifiers(node) &&
    ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword));

/** Calls `add(node, operator, text)` for each mutant of `node` itself. An empty `text` removes a statement. */
function mutate(node, add) {
  const text = (part) => part.getText();
  const condition = conditionOf(node);
  if (condition && !isBoolean(condition)) {
    const inner = bare(condition);
    add(condition, 'condition negated', isNot(inner) ? text(inner.operand) : `!(${text(condition)})`);
  }
  if (isNot(node) && !isCondition(node) && !isNot(node.operand) && !isNot(node.parent))
    add(node, 'negation removed', text(node.operand));
  if (ts.isBinaryExpression(node)) {
    const own = text(node.operatorToken);
    const isTextSum = own === '+' && (isText(bare(node.left)) || isText(bare(node.right)));
    for (const other of isTextSum ? [] : (swaps.get(own) ?? [])) {
      const isNegation = negations.has(own) || opposites.get(own) === other;
      if (isNegation && (isCondition(node) || isNot(node.parent.parent))) continue;
      const isAssignment = own.endsWith('=') && !negations.has(own) && !opposites.has(own);
      const [left, right] = [text(node.left), text(node.right)];
      add(
        node,
        'operator swapped',
        isAssignment ? `${left} ${other} ${right}` : `(${left}) ${other} (${right})`,
      );
    }
  }
  if (
    (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) &&
    /^(\+\+|--)|(\+\+|--)$/.test(text(node))
  ) {
    const other = text(node).includes('++') ? text(node).replace('++', '--') : text(node).replace('--', '++');
    add(node, 'operator swapped', other);
  }
  if (ts.isExpressionStatement(node)) {
    const { expression } = node;
    const inner =
      ts.isAwaitExpression(expression) || ts.isVoidExpression(expression)
        ? expression.expression
        : expression;
    const isCall = ts.isCallExpression(inner) && inner.expression.kind !== ts.SyntaxKind.SuperKeyword;
    if (isCall) add(expression, 'call dropped', 'undefined');
  }
  if (ts.isThrowStatement(node)) add(node, 'throw dropped', '');
  const result =
    ts.isReturnStatement(node) || (ts.isArrowFunction(node) && !ts.isBlock(node.body))
      ? (node.expression ?? node.body)
      : undefined;
  if (result && !isNothing(result) && !isBoolean(result)) add(result, 'return emptied', 'undefined');
  if (ts.isAwaitExpression(node)) add(node, 'await removed', text(node.expression));
  if (isBoolean(node))
    add(node, 'boolean flipped', node.kind === ts.SyntaxKind.TrueKeyword ? 'false' : 'true');
  if (isText(node) && !isName(node) && !isDeveloperMessage(node) && text(node).length > 2)
    add(node, 'text emptied', "''");
  if (ts.isNumericLiteral(node) && !isName(node)) {
    const value = Number(node.text);
    const others = value > largestCounted ? [0] : value === 0 ? [1] : [value + 1, value - 1];
    for (const other of others) add(node, 'number changed', String(other));
  }
}

const parse = (file, text) => ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true, ts.ScriptKind.TS);

const oneLine = (text) => text.replace(/\s+/g, ' ').trim();

/**
 * Returns all mutants of a TypeScript source, in the order of the file, as `{file, start, end, line, column, operator, before,
 * after, within, occurrence, replacement}`. `within` is the source line on which the mutant starts. This text identifies the mutant
 * even if lines move; `occurrence` is above 1 if the file has such a line and mutant more than once. Types, imports and developer
 * messages have no mutants.
 */
export function findMutants(file, text) {
  const source = parse(file, text);
  const lines = text.split('\n');
  const found = [];
  const occurrences = new Map();
  const add = (node, operator, replacement) => {
    if (isInsideChain(node) || ts.isExpressionStatement(node)) return;
    const [start, end] = [node.getStart(source), node.end];
    const { line, character } = source.getLineAndCharacterOfPosition(start);
    const [before, after] = [oneLine(text.slice(start, end)), oneLine(replacement)];
    const isKnown = found.some(
      (other) => other.start === start && other.end === end && other.replacement === replacement,
    );
    if (isKnown) return;
    const place = { file, start, end, line: line + 1, column: character + 1, within: lines[line].trim() };
    const words = [operator, place.within, before, after].join('\n');
    const occurrence = (occurrences.get(words) ?? 0) + 1;
    occurrences.set(words, occurrence);
    found.push({ ...place, operator, before, after, occurrence, replacement });
  };
  const visit = (node) => {
    if (isSkipped(node)) return;
    mutate(node, add);
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  return found;
}

/**
 * Returns the source with all mutants built in. A mutant runs only if `__isMutant(id)` returns true; never in a worker without it.
 */
export function instrument(text, mutants) {
  const sorted = [...mutants].sort((a, b) => a.start - b.start || b.end - a.end);
  let next = 0;
  const write = (start, end) => {
    let out = '';
    let at = start;
    while (next < sorted.length && sorted[next].start < end) {
      const first = sorted[next];
      const same = [];
      while (sorted[next]?.start === first.start && sorted[next].end === first.end) same.push(sorted[next++]);
      out += text.slice(at, first.start);
      const own = write(first.start, first.end);
      at = first.end;
      if (first.replacement === '') out += `{ if (!globalThis.__isMutant?.(${first.id})) ${own} }`;
      else
        out += `(${same.map(({ id, replacement }) => `globalThis.__isMutant?.(${id}) ? (${replacement}) : `).join('')}(${own}))`;
    }
    return out + text.slice(at, end);
  };
  return write(0, text.length);
}
