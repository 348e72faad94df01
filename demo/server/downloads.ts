// Lists the finished files of a folder, and streams a file from its chunks.
import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { Hono } from 'hono';
import { requireUser } from './accounts.ts';
import { requireFolder } from './folders.ts';
import type { Env, Parts } from './parts.ts';
import { Refusal } from './refusal.ts';

/** Creates the routes that read finished files. */
export function downloadRoutes(parts: Parts): Hono<Env> {
  const app = new Hono<Env>();
  const { tables, storage } = parts;

  app.get('/files', async (c) => {
    const user = await requireUser(c, parts);
    const folder = requireFolder(user, c.req.query('parent_id') ?? '', 'read');
    const files = await tables.files.listBy('folderId', folder.id);
    files.sort((a, b) => b.createdAt - a.createdAt || a.name.localeCompare(b.name));
    return c.json({
      files: files.map((file) => ({
        file_id: file.id,
        file_name: file.name,
        file_size: file.sizeBytes,
        created_at: new Date(file.createdAt).toISOString(),
      })),
    });
  });

  app.get('/files/:id', async (c) => {
    const user = await requireUser(c, parts);
    const file = await tables.files.get(c.req.param('id'));
    if (!file) throw new Refusal(404, 'not_found', 'no such file');
    requireFolder(user, file.folderId, 'read');
    const headers = {
      'content-type': 'application/octet-stream',
      'content-length': String(file.sizeBytes),
      'content-disposition': `attachment; filename*=UTF-8''${encodeFileName(file.name)}`,
      // If a browser opens the file, no script in the file may run.
      'content-security-policy': "default-src 'none'; sandbox",
    };
    if (c.req.method === 'HEAD' || file.sizeBytes === 0) return c.body(null, 200, headers);
    const bytes = storage.read(file.userId, file.chunks, 0, file.sizeBytes);
    const stream = Readable.from(bytes, { objectMode: false });
    return c.body(Readable.toWeb(stream) as NodeStream as ReadableStream, 200, headers);
  });

  return app;
}

function encodeFileName(name: string): string {
  return encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
