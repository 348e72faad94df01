// Creates data for editors from the custom elements manifest: custom data for VS Code, and web-types for JetBrains editors.

/** Returns the words of a union type such as `'fail' | 'rename'`; an empty list for other types. */
const wordsOf = (text) =>
  /^'[^']*'( \| '[^']*')*$/.test(text) ? text.split(' | ').map((word) => word.slice(1, -1)) : [];

const elementsOf = ({ modules }) =>
  modules.flatMap(({ declarations = [] }) => declarations).filter(({ tagName }) => tagName);

const markdown = (value) => ({ kind: 'markdown', value });

/** Returns custom data for VS Code (https://github.com/microsoft/vscode-custom-data). */
export function customData(manifest) {
  const attributeOf = ({ name, description, type }) => ({
    name,
    description: markdown(description),
    ...(type.text === 'boolean' && { valueSet: 'v' }),
    ...(wordsOf(type.text).length > 0 && { values: wordsOf(type.text).map((word) => ({ name: word })) }),
  });
  const tags = elementsOf(manifest).map(({ tagName, summary, attributes }) => ({
    name: tagName,
    description: markdown(summary),
    attributes: attributes.map(attributeOf),
  }));
  return { version: 1.1, tags };
}

/** Returns web-types for JetBrains editors (https://github.com/JetBrains/web-types). */
export function webTypes(manifest, { name, version }) {
  const described = (items = []) => items.map((item) => ({ name: item.name, description: item.description }));
  const elements = elementsOf(manifest).map((element) => ({
    name: element.tagName,
    description: element.summary,
    attributes: element.attributes.map(({ name, description, type }) => ({
      name,
      description,
      value: { type: type.text, required: type.text !== 'boolean' },
    })),
    slots: described(element.slots),
    css: {
      parts: described(element.cssParts),
      properties: (element.cssProperties ?? []).map((each) => ({
        name: each.name,
        description: each.description,
        default: each.default,
      })),
    },
    js: {
      properties: element.members
        .filter(({ kind, privacy, static: isStatic }) => kind === 'field' && !privacy && !isStatic)
        .map(({ name, description, type }) => ({ name, description, type: type?.text })),
      events: element.events.map(({ name, description, type }) => ({ name, description, type: type.text })),
    },
  }));
  return {
    $schema: 'https://raw.githubusercontent.com/JetBrains/web-types/master/schema/web-types.json',
    name,
    version,
    'description-markup': 'markdown',
    contributions: { html: { elements } },
  };
}
