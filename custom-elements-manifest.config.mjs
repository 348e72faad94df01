// Describes the elements for editors and for the tables of the README: custom-elements.json, written by `npm run build`.

/** Keeps only the events of doc comments: the analyzer takes the variable in `new CustomEvent(name)` for a name. */
const documentedEvents = {
  name: 'documented-events',
  packageLinkPhase({ customElementsManifest }) {
    for (const declaration of customElementsManifest.modules.flatMap(({ declarations = [] }) => declarations))
      if (declaration.events)
        declaration.events = declaration.events.filter(({ description }) => description);
  },
};

export default {
  globs: ['src/*.ts', 'src/ui/secure-uploader*.ts'],
  outdir: '.',
  litelement: true,
  plugins: [documentedEvents],
  packagejson: false, // whose "customElements" names the file already
};
