// Compares requests and responses with an OpenAPI document, as far as docs/openapi.json uses the format.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Passing } from './mutant-proxy.ts';

type Node = Readonly<Record<string, unknown>>;

/** A part of a document that was read, and its JSON pointer. */
interface Found {
  readonly node: Node;
  readonly pointer: string;
}

export interface Operation extends Found {
  /** Method and path. */
  readonly key: string;
  readonly id: string;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;
const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
const isDateTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text));

/** Returns the document without further fields: neither service may send a field that no schema has. */
export const closed = (document: Node): Node =>
  JSON.parse(JSON.stringify(document), (_name, value) =>
    value?.type === 'object' && value.properties && value.additionalProperties === undefined
      ? { ...value, additionalProperties: false }
      : value,
  );

/** Calls `visit` for each object and array of the document. */
export function walk(node: unknown, visit: (node: Node, pointer: string) => void, pointer = ''): void {
  if (!isNode(node)) return;
  visit(node, pointer);
  for (const [name, value] of Object.entries(node)) walk(value, visit, `${pointer}/${escaped(name)}`);
}

/** False if the service has refused the request, or a file of a batch. */
function isAccepted({ response: { status, body } }: Passing): boolean {
  if (status < 200 || status >= 300) return false;
  const { answers = [] } = body.length > 0 ? JSON.parse(body.toString()) : {};
  return !answers.some((answer: { readonly status: number }) => answer.status >= 400);
}

export class Description {
  readonly operations: readonly Operation[];
  readonly #document: Node;
  readonly #ajv = new Ajv2020({
    allErrors: true,
    allowUnionTypes: true,
    formats: { 'date-time': isDateTime },
  });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: Node) {
    this.#document = document;
    this.#ajv.addVocabulary(['x-project-only', 'components']);
    this.operations = Object.entries(document.paths as Node).flatMap(([path, methods]) =>
      Object.entries(methods as Node).map(([method, node]) => ({
        key: `${method.toUpperCase()} ${path}`,
        id: String((node as Node).operationId),
        node: node as Node,
        pointer: `/paths/${escaped(path)}/${method}`,
      })),
    );
  }

  /** Returns what a pointer leads to, and what a `$ref` there leads to. Throws if there is nothing. */
  at(pointer: string): Found {
    const names = pointer.split('/').slice(1);
    const node = names.reduce((value: unknown, name) => {
      const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
      return isNode(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    }, this.#document);
    if (!isNode(node)) throw new Error(`there is no ${pointer}`);
    return typeof node.$ref === 'string' ? this.at(node.$ref.slice(1)) : { node, pointer };
  }

  validatorAt(pointer: string): ValidateFunction {
    const { components } = this.#document;
    const known = this.#validators.get(pointer);
    const validate = known ?? this.#ajv.compile({ ...this.at(pointer).node, components });
    this.#validators.set(pointer, validate);
    return validate;
  }

  operationOf({ method, path }: Passing): Operation | undefined {
    return this.operations.find(({ key }) => key === `${method} ${path.split('?')[0]}`);
  }

  /** Returns what the document doesn't describe in this exchange. Requests are checked if the service accepted them. */
  problemsOf(passing: Passing): string[] {
    const operation = this.operationOf(passing);
    if (!operation) return [];
    const { status, headers, body } = passing.response;
    const problems: string[] = [];
    if (!isNode((operation.node.responses as Node)[status])) problems.push('the status is not described');
    else {
      const found = this.at(`${operation.pointer}/responses/${status}`);
      problems.push(...this.#headersIn(found, headers), ...this.#bodyIn(found, headers, body));
    }
    if (isAccepted(passing)) problems.push(...this.#requestIn(operation, passing));
    return problems.map((problem) => `${operation.id} ${status}: ${problem}`);
  }

  #requestIn({ node, pointer }: Operation, { headers, body }: Passing): string[] {
    const problems: string[] = [];
    for (const index of Object.keys(node.parameters ?? [])) {
      const { name } = this.at(`${pointer}/parameters/${index}`).node;
      if (!headers[String(name)]) problems.push(`the request has no ${name}`);
    }
    const needsToken = (node.security as unknown[] | undefined)?.length !== 0;
    if (needsToken !== /^Bearer ./.test(headers.authorization ?? '')) problems.push('the request: the token');
    const request = node.requestBody ? this.at(`${pointer}/requestBody`) : { node: {}, pointer };
    return [...problems, ...this.#bodyIn(request, headers, body).map((problem) => `the request: ${problem}`)];
  }

  #headersIn({ node, pointer }: Found, headers: Passing['headers']): string[] {
    const names = Object.keys(node.headers ?? {});
    return names.flatMap((name) => {
      const place = `${pointer}/headers/${escaped(name)}`;
      const value = headers[name.toLowerCase()];
      if (value === undefined) return this.at(place).node.required ? [`there is no ${name}`] : [];
      return this.#errorsOf(`${place}/schema`, value, name);
    });
  }

  #bodyIn({ node, pointer }: Found, headers: Passing['headers'], body: Buffer): string[] {
    if (!node.content) return body.length > 0 ? ['a body is not described'] : [];
    if (!/^application\/json\b/.test(headers['content-type'] ?? '')) return ['the body is not JSON'];
    const place = `${pointer}/content/${escaped('application/json')}/schema`;
    return this.#errorsOf(place, JSON.parse(body.toString()), 'the body');
  }

  #errorsOf(pointer: string, value: unknown, what: string): string[] {
    const validate = this.validatorAt(pointer);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${what}${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }
}
