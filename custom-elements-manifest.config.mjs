// Describes the elements for editors and for the tables of the README: custom-elements.json, written by `npm run build`.
export default {
  globs: ['src/*.ts', 'src/ui/secure-uploader*.ts'],
  outdir: '.',
  litelement: true,
  packagejson: false, // whose "customElements" names the file already
};
