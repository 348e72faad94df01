import { minify } from 'terser';

/** Inlines functions and variables that are used once, before Vite's own minifier. */
export const inlined = {
  name: 'inlined',
  async renderChunk(code) {
    const { code: small = '', map } = await minify(code, {
      ...{
        module: true,
        compress: {
          ecma: 2020,
          passes: 3,
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

/** Removes spaces and comments from the styles in a module. Minifiers do not change template literals. */
export const smallStyles = (code) =>
  code
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\n +/g, '\n')
    .replace(/([;{}])\n+/g, '$1')
    .replace(/([:,>])\s+| +(?=[{>])|;(?=\})|\b0(?=\.\d)/g, '$1');
