// Finds tests that are focused (`it.only`), skipped (`xit`, `{ skip: true }`, `t.skip()`), unwritten (`test.todo`) or empty, in
// Mocha and Node style. With such tests, a run looks complete although some tests did not run.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import { filesUnder } from './files.mjs';

const TESTS = ['it', 'test', 'specify'];
const GROUPS = ['describe', 'suite', 'context'];
const MARKS = ['only', 'skip', 'todo'];
const MARKED = /^(?:x|f)(?:it|test|specify|describe|suite|context)$/;

const isFunction = (node) => ts.isArrowFunction(node) || ts.isFunctionExpression(node);
const textOf = (name) =>
  name && (ts.isIdentifier(name) || ts.isStringLiteralLike(name)) ? name.text : undefined;

/** Returns the names under which a file imports functions from `node:test`, with the original names. */
function importedNames(source) {
  const names = new Map();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || statement.moduleSpecifier.text !== 'node:test') continue;
    const { name, namedBindings } = statement.importClause ?? {};
    if (name) names.set(name.text, 'test');
    if (!namedBindings || !ts.isNamedImports(namedBindings)) continue;
    for (const each of namedBindings.elements)
      names.set(each.name.text, each.propertyName?.text ?? each.name.text);
  }
  return names;
}

/** Returns the object and the property name of `object.name` or `object['name']`. */
function accessOf(node) {
  if (ts.isPropertyAccessExpression(node)) return { object: node.expression, name: node.name.text };
  if (ts.isElementAccessExpression(node))
    return { object: node.expression, name: textOf(node.argumentExpression) };
  return undefined;
}

/** Returns the problems with the tests in a file, as `{line, what}`. */
export function focusedIn(text, fileName = 'a.test.ts') {
  const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest, true);
  const names = importedNames(source);
  const found = [];
  const add = (node, what) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    found.push({ line: line + 1, what });
  };

  /** Returns the kind of a node: `test`, `group`, `mark`, `context` (the parameter of a test function) or undefined. */
  function kindOf(node, contexts) {
    if (ts.isIdentifier(node)) {
      if (contexts.includes(node.text)) return 'context';
      const name = names.get(node.text) ?? node.text;
      if (TESTS.includes(name)) return 'test';
      if (GROUPS.includes(name)) return 'group';
      if (MARKED.test(name) || (names.has(node.text) && MARKS.includes(name))) return 'mark';
      return undefined;
    }
    if (node.kind === ts.SyntaxKind.ThisKeyword) return 'context';
    const access = accessOf(node);
    if (!access) return undefined;
    const kind = kindOf(access.object, contexts);
    if (kind && MARKS.includes(access.name)) return 'mark';
    if (kind && TESTS.includes(access.name)) return 'test';
    return kind && GROUPS.includes(access.name) ? 'group' : undefined;
  }

  function lookAtCall(node, kind) {
    for (const options of node.arguments.filter(ts.isObjectLiteralExpression)) {
      const marks = options.properties.filter(
        (property) =>
          MARKS.includes(textOf(property.name)) && property.initializer?.kind !== ts.SyntaxKind.FalseKeyword,
      );
      for (const property of marks) add(property, `has the option "${textOf(property.name)}"`);
    }
    const [title] = node.arguments;
    const body = node.arguments.find(isFunction);
    const isBare = node.arguments.every(
      (argument) => ts.isStringLiteralLike(argument) || ts.isObjectLiteralExpression(argument),
    );
    if (title && isBare) add(node, `has no function: it is empty`);
    if (body && ts.isBlock(body.body) && body.body.statements.length === 0 && ts.isStringLiteralLike(title))
      add(node, kind === 'group' ? 'is an empty group' : 'is an empty test');
  }

  function visit(node, contexts) {
    const access = accessOf(node);
    if (access && MARKS.includes(access.name)) {
      const kind = kindOf(access.object, contexts);
      const isCalled = ts.isCallExpression(node.parent) && node.parent.expression === node;
      if (kind === 'test' || kind === 'group') add(node, `is marked "${access.name}"`);
      else if (kind === 'context' && isCalled) add(node, `is marked "${access.name}" while it runs`);
    }
    let inner = contexts;
    if (ts.isCallExpression(node)) {
      const kind = kindOf(node.expression, contexts);
      if (kind === 'mark' && !accessOf(node.expression)) add(node, `is marked "${node.expression.text}"`);
      if (kind === 'test' || kind === 'group') lookAtCall(node, kind);
      const parameter = node.arguments.find(isFunction)?.parameters[0]?.name;
      if (kind === 'test' && parameter && ts.isIdentifier(parameter)) inner = [...contexts, parameter.text];
    }
    ts.forEachChild(node, (child) => visit(child, inner));
  }

  visit(source, []);
  return found;
}

/** Returns the problems with the tests in `files`, as `file:line: what`. By default, checks all tests of the project. */
export function focusedTests(root, files = filesUnder(root, ['test'], /\.[cm]?[jt]s$/)) {
  return files.flatMap((file) =>
    focusedIn(readFileSync(join(root, file), 'utf8'), file).map(
      ({ line, what }) => `${file}:${line}: this test ${what}`,
    ),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const found = focusedTests(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)));
  for (const line of found) console.log(line);
  process.exitCode = found.length ? 1 : 0;
}
