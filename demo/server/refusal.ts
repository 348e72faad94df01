// `Refusal`, an error that app.ts sends as a response, the responses below `/files`, and functions that read and validate request
// bodies.
import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** An error with the status, code and message of a response. `more` adds fields to the response body, `headers` adds headers. */
export class Refusal extends Error {
  readonly status: ContentfulStatusCode;
  readonly code: string;
  readonly headers: Record<string, string>;
  readonly more: Record<string, unknown>;

  constructor(
    status: ContentfulStatusCode,
    code: string,
    message: string,
    { headers = {}, more = {} }: { headers?: Record<string, string>; more?: Record<string, unknown> } = {},
  ) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.more = more;
  }
}

/** True if `error` means that the disk or the disk quota is full, which may be temporary. */
export function isDiskFull(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** The response to an operation on an upload, or to a file of a batch. */
export interface Answer {
  status: ContentfulStatusCode;
  body: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** Returns the response to an error below `/files`. */
export function answerTo(error: unknown): Answer {
  if (error instanceof Refusal) {
    const { status, message, more, headers } = error;
    return { status, body: { debuginfo: message, ...more }, headers };
  }
  if (isDiskFull(error)) return { status: 507, body: { debuginfo: 'no space left' } };
  return { status: 500, body: { debuginfo: 'internal error' } };
}

/** Reads the body as text. Throws a 413 refusal above `limitBytes`, and a 400 refusal if the body is incomplete or not UTF-8. */
export async function readText(request: Request, limitBytes: number): Promise<string> {
  const tooLarge = new Refusal(413, 'too_large', `the body is larger than ${limitBytes} bytes`);
  if (Number(request.headers.get('content-length') ?? 0) > limitBytes) throw tooLarge;
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  try {
    for await (const piece of (request.body ?? []) as AsyncIterable<Uint8Array>) {
      sizeBytes += piece.byteLength;
      if (sizeBytes > limitBytes) throw tooLarge;
      pieces.push(piece);
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(400, 'invalid_request', 'the body cannot be read');
  }
}

/** Throws a 415 refusal if the content type of the request is not JSON. */
export function requireJson(request: Request): void {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new Refusal(415, 'unsupported_type', 'the body must be JSON');
}

/** Reads the body as a JSON object. Throws a 415, 413 or 400 refusal. */
export async function readJson(request: Request, limitBytes: number): Promise<Record<string, unknown>> {
  requireJson(request);
  const text = await readText(request, limitBytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refusal(400, 'invalid_request', 'the body is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal(400, 'invalid_request', 'the body is not a JSON object');
  }
  return value as Record<string, unknown>;
}

/** Returns a field of the body. Throws a 400 refusal if the field is not a string of 1 to `maxLength` characters. */
export function readString(body: Record<string, unknown>, field: string, maxLength: number): string {
  const value = body[field];
  if (typeof value !== 'string' || value === '' || value.length > maxLength) {
    throw new Refusal(400, 'invalid_request', `${field} must be a string of 1 to ${maxLength} characters`);
  }
  return value;
}

/** Returns a field of the body. Throws a 400 refusal if the field is not a list of strings. */
export function readStrings(body: Record<string, unknown>, field: string): string[] {
  const value = body[field];
  if (!Array.isArray(value) || !value.every((item): item is string => typeof item === 'string')) {
    throw new Refusal(400, 'invalid_request', `${field} must be a list of strings`);
  }
  return value;
}
