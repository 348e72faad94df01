// Generates the tables in docs/reference.md from doc comments, event types, defaults of settings and error messages. `node --import
// tsx scripts/readme-tables.mjs` writes the tables. With `--check`, it only prints differences, and fails if there are any.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { attributeOf, createSettings, PROTECTING } from '../src/core/config.ts';
import { canRetry, ERROR_CODES } from '../src/core/error-codes.ts';
import { SETTINGS } from '../src/core/settings-table.ts';
import { ENGLISH } from '../src/locales/en.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const scratch = 'node_modules/.cache/secure-uploader-manifest';

/** Analyzes the current sources, and returns the element's declaration in the custom elements manifest. */
function readElement() {
  mkdirSync(join(root, scratch), { recursive: true });
  const script = join(root, 'node_modules/@custom-elements-manifest/analyzer/cem.js');
  const { status, stderr } = spawnSync(
    process.execPath,
    [script, 'analyze', '--quiet', '--outdir', scratch],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`the manifest could not be made: ${stderr}`);
  const { modules } = JSON.parse(readFileSync(join(root, scratch, 'custom-elements.json'), 'utf8'));
  const all = modules.flatMap((module) => module.declarations ?? []);
  return all.find((declaration) => declaration.tagName === 'secure-uploader');
}

/** Returns the fields of each event detail, by event name, from the type `SecureUploaderEvents`. */
function readDetails() {
  const file = join(root, 'src/ui/event-map.ts');
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram([file], { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const events = source.statements.find((node) => node.name?.text === 'SecureUploaderEvents');
  const fieldsOf = (type) =>
    checker.getPropertiesOfType(type).map((field) => {
      const isOptional = field.flags & ts.SymbolFlags.Optional;
      const own = checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(field, events));
      const [item] = checker.isArrayType(own) ? checker.getTypeArguments(own) : [];
      const isList = item !== undefined && (item.flags & ts.TypeFlags.Object) !== 0;
      return `${field.name}${isOptional ? '?' : ''}${isList ? `: [{${fieldsOf(item).join(', ')}}]` : ''}`;
    });
  const details = checker.getPropertiesOfType(checker.getTypeAtLocation(events.name)).map((event) => {
    const type = checker.getTypeOfSymbolAtLocation(event, events);
    const detail = checker.getTypeOfSymbolAtLocation(type.getProperty('detail'), events);
    return [event.name, fieldsOf(detail)];
  });
  return new Map(details);
}

const camel = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
const settings = createSettings({ baseUrl: 'https://files.example' });

/** Returns what the doc comment of a setting has to say about values that cannot be read. */
function remarksOf(name, { protects, mayBeBlank, attribute }) {
  const when = mayBeBlank ? 'it cannot be read' : 'it is empty or cannot be read';
  if (name === 'baseUrl') return ['@remarks `bad-config` if it is missing or cannot be read.'];
  return protects
    ? [`@remarks \`bad-config\` if ${when}${attribute === 'only-on' ? '; an attribute is off then' : ''}.`]
    : [];
}

/** Throws if the tags of a setting's doc comment say something else than its row: its default, or that it protects users. */
function checkTags() {
  const path = join(root, 'src/core/settings-table.ts');
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const [{ initializer: rows }] = source.statements
    .flatMap((node) => (ts.isVariableStatement(node) ? node.declarationList.declarations : []))
    .filter((node) => node.name.text === 'SETTINGS');
  for (const row of rows.properties) {
    const name = row.name.text;
    const tags = ts.getJSDocTags(row).map(({ tagName, comment }) => `@${tagName.text} ${comment}`);
    const value = settings[name];
    const hasDefault =
      ['boolean', 'number', 'string'].includes(typeof value) &&
      value !== '' &&
      value !== Number.POSITIVE_INFINITY;
    const text = typeof value === 'string' ? `'${value}'` : value;
    const expected = [
      ...(hasDefault && name !== 'baseUrl' ? [`@defaultValue \`${text}\``] : []),
      ...remarksOf(name, SETTINGS[name]),
    ];
    if (`${tags}` !== `${expected}`)
      throw new Error(`the doc comment of ${name} has the tags "${tags}", not "${expected}"`);
  }
}

function defaultOf({ name, fieldName, type }) {
  if (fieldName !== camel(name))
    throw new Error(`the property of ${name} is ${fieldName}, not ${camel(name)}`);
  if (type?.text === 'boolean') return 'off';
  if (name === 'base-url') return '';
  const value = settings[fieldName];
  const isUnset = value === undefined || value === '' || value === Number.POSITIVE_INFINITY;
  return isUnset || (Array.isArray(value) && value.length === 0) ? '' : `\`${value}\``;
}

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
const code = (text) => `\`${text}\``;
const cell = (text = '') => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function signatureOf({ name, parameters = [] }) {
  const inner = parameters.map((each) => each.name + (each.optional || each.default ? '?' : ''));
  return code(`${name}(${inner.join(', ')})`);
}

/**
 * Merges overloads into one row. The row has the doc comment of the documented overload and the parameters of the longest overload.
 */
function methodsOf(members) {
  const methods = members.filter(
    ({ kind, privacy, name }) => kind === 'method' && !privacy && !/^(add|remove)EventListener$/.test(name),
  );
  return [...new Set(methods.map(({ name }) => name))].map((name) => {
    const same = methods.filter((method) => method.name === name);
    const parameters = same.map((method) => method.parameters ?? []).sort((a, b) => b.length - a.length)[0];
    const optional = same.some((method) => (method.parameters ?? []).length < parameters.length);
    const { description } = same.find((method) => method.description) ?? {};
    const shown = optional ? parameters.map((each) => ({ ...each, optional: true })) : parameters;
    return [signatureOf({ name, parameters: shown }), cell(description)];
  });
}

/** Returns all tables, by the names in their markers. */
function readTables() {
  checkTags();
  const { attributes, members, events, cssParts, cssProperties, cssStates, slots } = readElement();
  const details = readDetails();
  const silent = events.filter(({ description }) => !description).map(({ name }) => name);
  if (silent.length > 0) throw new Error(`events without a doc comment: ${silent.join(', ')}`);
  const properties = members.filter(
    ({ kind, privacy, attribute, static: isStatic }) =>
      kind === 'field' && !privacy && !attribute && !isStatic,
  );
  const named = (items) => items.map(({ name, description }) => [code(name), cell(description)]);
  const isAttribute = (name) => attributes.some((each) => each.name === name);
  const nameOf = (setting) => (isAttribute(attributeOf(setting)) ? attributeOf(setting) : setting);
  return {
    protecting: `${PROTECTING.map((setting) => code(nameOf(setting))).join(', ')}.`,
    attributes: table(
      ['Attribute', 'Default', 'Description'],
      attributes.map((each) => [code(each.name), defaultOf(each), cell(each.description)]),
    ),
    properties: table(['Property', 'Description'], named(properties)),
    methods: table(['Method', 'Description'], methodsOf(members)),
    events: table(
      ['Event', 'Detail', 'Dispatched'],
      events.map(({ name, description }) => {
        const fields = details.get(name);
        if (!fields) throw new Error(`${name} has no type`);
        return [code(name), code(fields.join(', ')), cell(description)];
      }),
    ),
    parts: table(['Part', 'Description'], named(cssParts)),
    'custom-properties': table(
      ['Custom property', 'Default', 'Description'],
      cssProperties.map((each) => [
        code(each.name),
        each.default ? code(each.default) : '',
        cell(each.description),
      ]),
    ),
    states: table(['State', 'While'], named(cssStates)),
    slots: table(['Slot', 'Description'], named(slots)),
    errors: table(
      ['Code', 'Retry may help', 'Message'],
      ERROR_CODES.map((each) => [code(each), canRetry(each) ? 'yes' : '', ENGLISH[each]]),
    ),
  };
}

/** Returns `text` with each table inserted between its markers. Throws if a marker is missing. */
function insertTables(text, tables) {
  let next = text;
  for (const [name, markdown] of Object.entries(tables)) {
    const marks = new RegExp(`(<!-- table: ${name} -->\n)[\\s\\S]*?(<!-- end -->)`);
    if (!marks.test(next)) throw new Error(`docs/reference.md has no marker for the table ${name}`);
    next = next.replace(marks, (_, begin, end) => `${begin}\n${markdown}\n\n${end}`);
  }
  return next;
}

const file = join(root, 'docs/reference.md');
const now = readFileSync(file, 'utf8');
const wanted = insertTables(now, readTables());
if (!process.argv.includes('--check')) writeFileSync(file, wanted);
else if (now !== wanted) {
  const linesOf = (text) => text.split('\n');
  const without = (text, other) => linesOf(text).filter((line) => !linesOf(other).includes(line));
  const changes = [
    ...without(now, wanted).map((line) => `- ${line}`),
    ...without(wanted, now).map((line) => `+ ${line}`),
  ];
  console.log(`docs/reference.md is out of date; run scripts/readme-tables.mjs:\n${changes.join('\n')}`);
  process.exitCode = 1;
}
