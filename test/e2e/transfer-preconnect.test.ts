// A journey, because it needs real connections.
// Connections that are opened before the first request.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import type { Page } from 'playwright';
import { createWorld } from './support/world.ts';

const world = await createWorld();

/** Starts a server that accepts connections and never sends anything. */
async function listen() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    /** Resolves when there is at least one connection. */
    connected: async () => {
      if (sockets.length === 0) await once(server, 'connection');
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Opens a page with a service and a storage that only accept connections, and calls `work`. */
async function withServers(
  work: (
    page: Page,
    service: Awaited<ReturnType<typeof listen>>,
    storage: Awaited<ReturnType<typeof listen>>,
  ) => Promise<void>,
): Promise<void> {
  const [service, storage] = [await listen(), await listen()];
  const page = await world.openWithToken(
    `base-url="${service.origin}" upload-origins="${storage.origin}" parent-id="a"`,
  );
  try {
    await work(page, service, storage);
  } finally {
    await page.close();
    service.close();
    storage.close();
  }
}

test('a page connects to the service when the element appears, and sends nothing', () =>
  withServers(async (_page, service, storage) => {
    await service.connected();
    assert.deepEqual(
      service.sockets.map(({ bytesRead }) => bytesRead),
      service.sockets.map(() => 0),
    );
    assert.equal(storage.sockets.length, 0);
  }));

test('a page connects to the storage when files are dragged over the element', () =>
  withServers(async (page, _service, storage) => {
    await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['a'], 'a.txt'));
      const event = new DragEvent('dragenter', { dataTransfer, bubbles: true });
      document.querySelector('secure-uploader')?.dispatchEvent(event);
    });
    await storage.connected();
    assert.equal(storage.sockets[0]?.bytesRead, 0);
  }));

test('a page connects to the storage when files are added', () =>
  withServers(async (page, _service, storage) => {
    await page.evaluate(() => {
      void document.querySelector('secure-uploader')?.addFiles(new File(['a'], 'a.txt'));
    });
    await storage.connected();
    assert.equal(storage.sockets[0]?.bytesRead, 0);
  }));
