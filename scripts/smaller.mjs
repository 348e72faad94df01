import { minify } from 'terser';

/** Inlines functions and variables that are used once, before Vite's own minifier. */
export const inlined = {
  name: 'inlined',
  async renderChunk(code) {
    const { code: small = '', map } = await minify(code, {
      ...{
        module: true,
        compress: { passes: 3, inline: 1, sequences: false, join_vars: false, keep_fargs: false },
        mangle: false,
        sourceMap: true,
      },
    });
    return { code: small, map: String(map) };
  },
};
