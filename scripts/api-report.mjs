// Describes the public API of the built package: the declarations that each entry exports, and the types that they use.
import { join, relative } from 'node:path';
import ts from 'typescript';
import { listEntries } from './entries.mjs';

const printer = ts.createPrinter({ removeComments: true });

/** Removes what callers cannot use: modifiers of declarations, and members with `#` or `private`. */
const withoutInternals = (context) => (node) => {
  const visit = (child) => {
    if (ts.isClassElement(child)) {
      const isPrivate = ts.getCombinedModifierFlags(child) & ts.ModifierFlags.Private;
      if (isPrivate || (child.name && ts.isPrivateIdentifier(child.name))) return undefined;
    }
    if (child.kind === ts.SyntaxKind.ExportKeyword || child.kind === ts.SyntaxKind.DeclareKeyword)
      return undefined;
    return ts.visitEachChild(child, visit, context);
  };
  return visit(node);
};

const print = (node) => {
  const {
    transformed: [result],
  } = ts.transform(node, [withoutInternals]);
  return printer.printNode(ts.EmitHint.Unspecified, result, node.getSourceFile()).replace(/^ +$/gm, '');
};

/** The statement that declares a symbol, instead of a part of it. */
function statementOf(declaration) {
  let node = declaration;
  while (!ts.isSourceFile(node.parent) && !ts.isModuleBlock(node.parent)) node = node.parent;
  return node;
}

/** Returns the report as Markdown. `folder` is the folder of the package. */
export function createApiReport(folder) {
  const entries = listEntries(folder).flatMap(([name, { types }]) =>
    types ? [[name, join(folder, types)]] : [],
  );
  const program = ts.createProgram(
    entries.map(([, path]) => path),
    {
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      target: ts.ScriptTarget.ES2022,
      jsx: ts.JsxEmit.ReactJSX,
    },
  );
  const checker = program.getTypeChecker();
  const isOwn = (node) => {
    const path = relative(folder, node.getSourceFile().fileName);
    return path.startsWith('dist') && !path.includes('node_modules');
  };
  const resolve = (symbol) =>
    symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;

  // Declarations by the text of the statement. Entries may export the same declaration.
  const texts = new Map();
  const collect = (symbol) => {
    for (const declaration of symbol?.declarations ?? []) {
      if (ts.isSourceFile(declaration) || ts.isTypeParameterDeclaration(declaration) || !isOwn(declaration))
        continue;
      const statement = statementOf(declaration);
      if (texts.has(statement)) continue;
      texts.set(statement, print(statement));
      const visit = (node) => {
        if (ts.isIdentifier(node)) collect(resolve(checker.getSymbolAtLocation(node)));
        ts.forEachChild(node, visit);
      };
      visit(statement);
    }
  };
  const lists = entries.map(([name, path]) => {
    const source = program.getSourceFile(path);
    const module = checker.getSymbolAtLocation(source);
    const symbols = module ? checker.getExportsOfModule(module) : [];
    for (const symbol of symbols) collect(resolve(symbol));
    // Types for templates are added to modules of other packages.
    for (const statement of source.statements)
      if (ts.isModuleDeclaration(statement)) texts.set(statement, print(statement));
    const names = symbols.map((symbol) => `\`${symbol.getName()}\``).sort();
    return `- \`secure-uploader${name.slice(1)}\`: ${names.join(', ') || 'nothing'}`;
  });
  const bodies = [...new Set(texts.values())].sort();
  return `# Public API

Generated from the built package: what each entry exports, then all declarations. After a change of the API, add a line to CHANGELOG.md
and run \`UPDATE_API_REPORT=1 npm test -- test/package/api-report.test.ts\`.

${lists.join('\n')}

\`\`\`ts
${bodies.join('\n\n')}
\`\`\`
`;
}
