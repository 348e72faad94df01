// Describes the elements for editors and for the tables of the reference: custom-elements.json, written by `npm run build`.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('.', import.meta.url));
const at = (name) => join(root, `src/ui/${name}.ts`);
const SETTINGS_TABLE = join(root, 'src/core/settings-table.ts');
const { Literal, Object: Composite, Unknown } = ts.TypeFlags;
/** A longer union keeps its name. */
const MAX_WORDS = 10;

/** Reads with TypeScript what the analyzer, which sees one file at a time, can't resolve: settings, events, and unions of words. */
function readTypes() {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const files = [at('event-map'), at('secure-uploader'), at('secure-uploader-login')];
  const program = ts.createProgram(files, { ...options, noEmit: true });
  const checker = program.getTypeChecker();

  function propertiesOf(file, name) {
    const symbol = checker.getSymbolAtLocation(program.getSourceFile(file));
    const exported = checker.getExportsOfModule(symbol).find((one) => one.name === name);
    return checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(exported));
  }
  function typeOf(symbol) {
    const type = checker.getTypeOfSymbol(symbol);
    return type.flags & Unknown ? type : checker.getNonNullableType(type);
  }
  const isWords = (type) =>
    type.isUnion() && type.types.length <= MAX_WORDS && type.types.every(({ flags }) => flags & Literal);
  function textOf(type, symbol) {
    // The checker forgets the name of some unions; their declaration has it.
    const declared = symbol?.valueDeclaration?.type;
    if (type.isUnion() && !isWords(type) && declared && ts.isTypeReferenceNode(declared))
      return declared.getText();
    const { NoTruncation, InTypeAlias } = ts.TypeFormatFlags;
    const flags = isWords(type) ? NoTruncation | InTypeAlias : NoTruncation;
    return checker.typeToString(type, undefined, flags).replaceAll('"', "'");
  }

  function eventOf(symbol) {
    const detail = typeOf(typeOf(symbol).getProperty('detail'));
    const fields = checker
      .getPropertiesOfType(detail)
      .map(
        (field) =>
          `${field.name}${field.flags & ts.SymbolFlags.Optional ? '?' : ''}: ${textOf(typeOf(field), field)}`,
      );
    return {
      name: symbol.name,
      type: { text: `CustomEvent<{ ${fields.join('; ')} }>` },
      description: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
    };
  }
  /** What an attribute may be: no functions, objects or arrays. */
  function attributeOf(symbol) {
    const type = typeOf(symbol);
    if (!type.isUnion() || type.flags & ts.TypeFlags.Boolean || isWords(type)) return textOf(type);
    return type.types
      .filter(({ flags }) => !(flags & Composite))
      .map((each) => textOf(each))
      .join(' | ');
  }
  const fileOf = (symbol) => symbol.declarations?.[0].getSourceFile().fileName;
  /** The settings, which Lit makes properties of the element (`src/ui/settings-element.ts`), in the order of their table. */
  function settingsOf(file, name) {
    const settings = propertiesOf(file, name).filter((symbol) => fileOf(symbol) === SETTINGS_TABLE);
    settings.sort((a, b) => a.declarations[0].pos - b.declarations[0].pos);
    return settings.map((symbol) => {
      const [, , kind] = symbol.declarations[0].initializer.arguments;
      const tag = symbol.getJsDocTags(checker).find((each) => each.name === 'defaultValue');
      return {
        name: symbol.name,
        type: { text: textOf(typeOf(symbol), symbol) },
        default: tag && ts.displayPartsToString(tag.text).replaceAll('`', ''),
        description: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
        attribute: kind?.text === 'none' ? undefined : kebabOf(symbol.name),
      };
    });
  }
  /** Files with the elements' own properties, unlike those of Lit and the DOM. */
  const ownFiles = new Set([...files, at('form-control'), SETTINGS_TABLE]);
  const wordsOf = (file, name) =>
    new Map(
      propertiesOf(file, name)
        .filter((symbol) => ownFiles.has(fileOf(symbol)))
        .map((symbol) => [symbol.name, attributeOf(symbol)]),
    );
  return {
    events: propertiesOf(files[0], 'SecureUploaderEvents').map(eventOf),
    settings: settingsOf(files[1], 'SecureUploader'),
    words: {
      SecureUploader: wordsOf(files[1], 'SecureUploader'),
      SecureUploaderLogin: wordsOf(files[2], 'SecureUploaderLogin'),
    },
  };
}

/** The attribute of a property: `attributeOf` in `src/core/config.ts` has the same rule. */
const kebabOf = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const types = {
  name: 'types',
  packageLinkPhase({ customElementsManifest }) {
    const { events, settings, words } = readTypes();
    const declarations = customElementsManifest.modules.flatMap((module) => module.declarations ?? []);
    const element = declarations.find(({ tagName }) => tagName === 'secure-uploader');
    element.members.unshift(...settings.map((setting) => ({ kind: 'field', ...setting })));
    element.attributes.unshift(
      ...settings
        .filter(({ attribute }) => attribute)
        .map(({ name, attribute, ...setting }) => ({ name: attribute, ...setting, fieldName: name })),
    );
    for (const { attributes = [], members = [] } of declarations) {
      for (const attribute of attributes) attribute.name = kebabOf(attribute.fieldName);
      for (const member of members) if (member.attribute) member.attribute = kebabOf(member.name);
    }
    for (const declaration of declarations.filter(({ name }) => words[name])) {
      for (const attribute of declaration.attributes)
        attribute.type = { text: words[declaration.name].get(attribute.fieldName) };
      for (const { type } of declaration.members)
        if (type) type.text = type.text.replaceAll(' | undefined', '');
      // The form's doc comment names its events. The analyzer adds one named like the variable in `new CustomEvent(name)`.
      const own = declaration.events?.filter(({ description }) => description);
      declaration.events =
        declaration.tagName === 'secure-uploader'
          ? events
          : own.map((event) => ({ ...event, type: events.find(({ name }) => name === event.name).type }));
    }
  },
};

export default {
  globs: ['src/*.ts', '!src/react.ts', 'src/ui/secure-uploader*.ts', 'src/ui/form-control.ts'],
  outdir: '.',
  litelement: true,
  plugins: [types],
  packagejson: false, // whose "customElements" names the file already
};
