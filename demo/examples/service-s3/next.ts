// The service as a route handler of Next: `app/files/[...path]/route.ts` in your app, with the other files beside it.
import { handle as handleUpload } from './service.ts';
import { settings } from './settings.ts';

// Needed only if the page has another origin than the Next app.
const corsOf = (request: Request): [string, string][] => [
  ['Vary', 'Origin'],
  ...(request.headers.get('origin') === settings.pageOrigin
    ? ([
        ['Access-Control-Allow-Origin', settings.pageOrigin],
        ['Access-Control-Expose-Headers', 'Retry-After, Date, WWW-Authenticate'],
      ] as [string, string][])
    : []),
];

async function handle(request: Request): Promise<Response> {
  const response = await handleUpload(request);
  for (const [name, value] of corsOf(request)) response.headers.set(name, value);
  return response;
}

export const POST = handle;
export const DELETE = handle;

export function OPTIONS(request: Request): Response {
  const headers = new Headers(corsOf(request));
  headers.set('Access-Control-Allow-Methods', 'POST, DELETE');
  headers.set('Access-Control-Allow-Headers', 'authorization, content-type, x-service-uploadsession');
  headers.set('Access-Control-Max-Age', '7200');
  return new Response(null, { status: 204, headers });
}
