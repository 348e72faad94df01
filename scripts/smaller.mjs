import { readFileSync } from 'node:fs';
import { minify } from 'terser';
import ts from 'typescript';

/** Inlines functions and variables that are used once, before Vite's own minifier. */
export const inlined = {
  name: 'inlined',
  async renderChunk(code) {
    const { code: small = '', map } = await minify(code, {
      ...{
        module: true,
        compress: {
          ecma: 2020,
          passes: 6,
          inline: 1,
          unsafe_arrows: true,
          sequences: false,
          join_vars: false,
          keep_fargs: false,
          lhs_constants: false,
        },
        mangle: false,
        sourceMap: true,
      },
    });
    return { code: small, map: String(map) };
  },
};

/** Private custom properties of the styles. */
const tokens = readFileSync(new URL('../src/ui/styles/tokens.ts', import.meta.url), 'utf8');
const privates = Array.from(tokens.matchAll(/^ +(--_[\w-]+):/gm), ([, name]) => name);

/**
 * Removes spaces and comments from the styles in a module, and shortens the names of private custom properties. Minifiers do not
 * change template literals.
 */
export const smallStyles = (code) =>
  code
    .replace(/--_[\w-]+/g, (name) => (privates.includes(name) ? `--_${privates.indexOf(name)}` : name))
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\n +/g, '\n')
    .replace(/([;{}])\n+/g, '$1')
    .replace(/([:,>])\s+| +(?=[{>])|;(?=\})|\b0(?=\.\d)/g, '$1');

/** Removes the indentation of the templates in a module of JavaScript or TypeScript. Minifiers do not change template literals. */
export function smallTemplates(code) {
  const file = ts.createSourceFile('', code, ts.ScriptTarget.Latest);
  const texts = [];
  const visit = (node) => {
    if (ts.isTemplateLiteralToken(node)) texts.push(node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return texts.reduceRight((small, node) => {
    const [start, end] = [node.getStart(file), node.getEnd()];
    return small.slice(0, start) + small.slice(start, end).replace(/\n +/g, '\n') + small.slice(end);
  }, code);
}

/** Replaces TypeScript's helper for decorators, since `property` needs only its call. */
export const smallDecorators = (code) =>
  code.replace(
    /^var __decorate = [\s\S]*?^\};/m,
    'const __decorate = ([property], prototype, name) => property(prototype, name);',
  );
