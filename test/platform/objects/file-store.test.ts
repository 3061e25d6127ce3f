import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import express from 'express';
import { pino } from 'pino';
import { z } from 'zod';
import { platformErrorHandler } from '../../../platform/api/error-handler.ts';
import { addObjectLinkRoutes } from '../../../platform/api/object-links.ts';
import { createObjectStore } from '../../../platform/objects/create-object-store.ts';
import { emptiedFolder } from '../../helpers/temporary-folder.ts';
import { objectStoreContract, type StoreUnderTest } from './object-store.contract.ts';

/** The file store with the routes that serve its links. */
async function startStore(): Promise<StoreUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-store-'));
  const open: StoreUnderTest['open'] = (now = Date.now) => createObjectStore({ url: pathToFileURL(folder).href, now });
  const store = await open();
  const app = express();
  addObjectLinkRoutes(app, store);
  app.use(platformErrorHandler(pino({ level: 'silent' })));
  const http = app.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = z.object({ port: z.number() }).parse(http.address());
  return {
    ...{ store, open },
    follow: (url, init) => fetch(new URL(url, `http://127.0.0.1:${address.port}`), init),
    async stop() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

describe('a folder as an object store', () => {
  objectStoreContract(startStore);

  it('lets no cache send a link without asking, and answers questions about its date', async () => {
    const { store, follow, stop } = await startStore();
    await store.put('bundles/a', Buffer.from('0123456789'), { contentType: 'application/gzip' });
    const { url } = await store.presign('bundles/a', { ttlMs: 60_000, fileName: 'a.tar.gz' });
    const { headers } = await follow(url);
    expect(headers.get('cache-control')).toBe('private, no-cache, no-transform');
    const date = headers.get('last-modified') ?? '';
    const same = await follow(url, { headers: { 'if-modified-since': date } });
    expect([same.status, await same.text()]).toEqual([304, '']);
    for (const name of ['content-type', 'content-disposition', 'accept-ranges'])
      expect([name, same.headers.get(name)]).toEqual([name, null]);
    const before = new Date(Date.parse(date) - 1000).toUTCString();
    for (const since of [before, 'yesterday'])
      expect((await follow(url, { headers: { 'if-modified-since': since } })).status).toBe(200);
    const both = { 'if-none-match': '"other"', 'if-modified-since': date };
    expect((await follow(url, { headers: both })).status).toBe(200);
    const beyond = await follow(url, { headers: { range: 'bytes=10-' } });
    for (const name of ['last-modified', 'content-disposition'])
      expect([name, beyond.headers.get(name)]).toEqual([name, null]);
    await stop();
  });

  describe('on disk', () => {
    const folder = emptiedFolder();
    const open = () => createObjectStore({ url: pathToFileURL(folder).href });

    it('leaves no draft behind, whether a write succeeds or fails', async () => {
      const store = await open();
      await store.put('a/b', Readable.from([Buffer.from('x')]), { contentType: 'text/plain' });
      const broken = new Readable({ read: () => broken.destroy(new Error('broke')) });
      await expect(store.put('a/c', broken, { contentType: 'text/plain' })).rejects.toThrow('broke');
      expect(await readdir(join(folder, '.tmp'))).toEqual([]);
      expect(await readdir(join(folder, 'a'))).toEqual(['b']);
    });

    it('finds only drafts that were last written more than a day ago, and deletes them', async () => {
      const store = await open();
      const drafts = ['old', 'new'].map((name) => join(folder, '.tmp', name));
      for (const draft of drafts) await writeFile(draft, 'x');
      await utimes(join(folder, '.tmp', 'old'), new Date(), new Date(Date.now() - 25 * 3_600_000));
      for await (const { name, sizeBytes, drop } of store.unfinished({ prefix: 'a/' })) {
        expect([name, await sizeBytes()]).toEqual(['old', 1]);
        await drop();
      }
      expect(await readdir(join(folder, '.tmp'))).toEqual(['new']);
    });

    it('creates one signing key even if it is opened concurrently, and keeps it', async () => {
      const stores = await Promise.all(Array.from({ length: 8 }, open));
      const key = await readFile(join(folder, '.signing-key'));
      expect(key).toHaveLength(32);
      expect((await stat(join(folder, '.signing-key'))).mode & 0o077).toBe(0);
      for (const [index, store] of stores.entries()) {
        const { url } = await store.presign('a', { ttlMs: 60_000 });
        const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
        const other = stores[(index + 1) % stores.length];
        expect(await other?.links?.verify(pathname, searchParams)).toEqual({ key: 'a', fileName: null });
      }
      await open();
      expect((await readFile(join(folder, '.signing-key'))).equals(key)).toBe(true);
    });

    it("rejects another store's links, and links with additions", async () => {
      const [store, foreign] = [await open(), await createObjectStore({ url: pathToFileURL(join(folder, 'b')).href })];
      const { url } = await foreign.presign('a', { ttlMs: 60_000 });
      const own = await store.presign('a', { ttlMs: 60_000 });
      for (const each of [url, `${own.url}&x=1`, `${own.url}&expires=99999999999999`, `${own.url}A`, `${own.url}!`]) {
        const { pathname, searchParams } = new URL(each, 'http://127.0.0.1');
        expect(await store.links?.verify(pathname, searchParams)).toBeNull();
      }
    });
  });
});
