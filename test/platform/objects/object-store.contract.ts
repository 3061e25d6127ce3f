import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { ObjectMissingError } from '../../../exporter/export-failure.ts';
import { bundleKey } from '../../../exporter/object-keys.ts';
import type { ObjectStore } from '../../../platform/objects/object-store.ts';

export type StoreUnderTest = {
  store: ObjectStore;
  /** Opens the same store with another clock (the real one by default). */
  open(now?: () => number): Promise<ObjectStore>;
  /** Requests a link of the store. */
  follow(url: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
};

const BINARY = { contentType: 'application/octet-stream' };

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const collected: Uint8Array[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return Buffer.concat(collected);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** The tests that every object store must pass. */
export function objectStoreContract(start: () => Promise<StoreUnderTest>): void {
  let subject: StoreUnderTest;
  let store: ObjectStore;
  beforeAll(async () => {
    subject = await start();
    store = subject.store;
  });
  afterAll(() => subject?.stop());

  it('returns an object completely or in part, as a stream or in memory', async () => {
    const bytes = randomBytes(100_000);
    const before = Date.now();
    expect(await store.put('raw/ab/one', bytes, BINARY)).toEqual({ sizeBytes: 100_000 });
    expect((await store.read('raw/ab/one')).equals(bytes)).toBe(true);
    expect((await collect(await store.get('raw/ab/one'))).equals(bytes)).toBe(true);
    expect((await store.read('raw/ab/one', { start: 10, end: 19 })).equals(bytes.subarray(10, 20))).toBe(true);
    expect((await collect(await store.get('raw/ab/one', { start: 99_990 }))).equals(bytes.subarray(99_990))).toBe(true);
    expect((await store.read('raw/ab/one', { start: 99_999, end: 200_000 })).length).toBe(1);
    expect((await store.read('raw/ab/one', { start: 100_000 })).length).toBe(0);
    const info = await store.head('raw/ab/one');
    expect(info?.sizeBytes).toBe(100_000);
    // S3 stores whole seconds.
    expect(info?.modifiedAt.getTime()).toBeGreaterThan(before - 1_000);
    expect(info?.modifiedAt.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it('stores an empty object', async () => {
    await store.put('empty', new Uint8Array(), BINARY);
    await store.put('empty-stream', Readable.from([]), BINARY);
    for (const key of ['empty', 'empty-stream']) {
      expect(await store.head(key)).toMatchObject({ sizeBytes: 0 });
      expect((await store.read(key)).length).toBe(0);
      expect((await collect(await store.get(key))).length).toBe(0);
    }
  });

  it('accepts a stream of more than one part', async () => {
    const chunk = randomBytes(1024 * 1024);
    const source = Readable.from(Array.from({ length: 20 }, () => chunk));
    expect(await store.put('large/object.bin', source, BINARY)).toEqual({ sizeBytes: 20 * chunk.length });
    expect((await store.read('large/object.bin', { start: 19 * chunk.length })).equals(chunk)).toBe(true);
  });

  it('replaces a whole object', async () => {
    await store.put('again', Buffer.from('first, and longer'), BINARY);
    await store.put('again', Buffer.from('second'), BINARY);
    expect((await store.read('again')).toString()).toBe('second');
  });

  it('stores nothing from a source that fails or differs from its announced size', async () => {
    async function* broken(): AsyncIterable<Buffer> {
      yield Buffer.from('some bytes');
      throw new Error('the source broke');
    }
    await expect(store.put('broken', Readable.from(broken()), BINARY)).rejects.toThrow('the source broke');
    const short = Readable.from([Buffer.from('short')]);
    await expect(store.put('short', short, { ...BINARY, sizeBytes: 6 })).rejects.toThrow('6 bytes');
    expect(await store.head('broken')).toBeNull();
    expect(await store.head('short')).toBeNull();
  });

  it('reports a missing object', async () => {
    await expect(store.read('missing/object')).rejects.toThrow(ObjectMissingError);
    await expect(store.get('missing/object')).rejects.toThrow(ObjectMissingError);
    await expect(store.read('missing/object', { start: 1 })).rejects.toThrow(ObjectMissingError);
    expect(await store.head('missing/object')).toBeNull();
  });

  it('lists by prefix, in order', async () => {
    const keys = ['list/a-b', 'list/a/1', 'list/a/2', 'list/a0', 'list/b', 'listing'];
    for (const key of [...keys].reverse()) await store.put(key, Buffer.from(key), BINARY);
    expect(await all(store.list('list/'))).toEqual(keys.slice(0, 5));
    expect(await all(store.list('list/a/'))).toEqual(['list/a/1', 'list/a/2']);
    expect(await all(store.list('list/a'))).toEqual(keys.slice(0, 4));
    expect(await all(store.list('nothing/'))).toEqual([]);
  });

  it('deletes many objects, and ignores missing ones', async () => {
    const keys = Array.from({ length: 12 }, (_, index) => `delete/${index}`);
    for (const key of keys) await store.put(key, Buffer.from('x'), BINARY);
    await store.delete([...keys.slice(1), 'delete/never']);
    expect(await all(store.list('delete/'))).toEqual(['delete/0']);
    await store.delete([]);
  });

  it.each([
    '',
    '/a',
    'a/',
    'a//b',
    '../a',
    'a/../b',
    '.signing-key',
    'a/.hidden',
    'a b',
    'ä',
    'a\\b',
    'a\0',
    'x'.repeat(600),
  ])('rejects the key %j', async (key) => {
    await expect(store.put(key, Buffer.from('x'), BINARY)).rejects.toThrow('object key');
    await expect(store.read(key)).rejects.toThrow('object key');
    await expect(store.head(key)).rejects.toThrow('object key');
    await expect(store.delete([key])).rejects.toThrow('object key');
    await expect(store.presign(key, { ttlMs: 1000 })).rejects.toThrow('object key');
  });

  describe('a link', () => {
    const key = bundleKey('c'.repeat(64));
    const body = Buffer.from('0123456789');
    beforeAll(() => store.put(key, body, { contentType: 'application/gzip' }));

    it('serves the object until it expires, with its hash in the path', async () => {
      const before = Date.now();
      const { url, expiresAt } = await store.presign(key, { ttlMs: 60_000, fileName: 'bundle.tar.gz' });
      expect(url.split('?')[0]).toContain('c'.repeat(64));
      expect(expiresAt.getTime()).toBeGreaterThan(before + 58_000);
      expect(expiresAt.getTime()).toBeLessThanOrEqual(Date.now() + 60_000);
      const response = await subject.follow(url);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-disposition')).toContain('bundle.tar.gz');
      expect(response.headers.get('content-length')).toBe('10');
      expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true);
    });

    it('serves ranges and conditional requests', async () => {
      const { url } = await store.presign(key, { ttlMs: 60_000 });
      const part = await subject.follow(url, { headers: { range: 'bytes=2-4' } });
      expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 2-4/10', '234']);
      const beyond = await subject.follow(url, { headers: { range: 'bytes=10-' } });
      expect(beyond.status).toBe(416);
      const etag = (await subject.follow(url)).headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[^"]+"$/);
      expect((await subject.follow(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
    });

    it('is rejected if its path, its expiry or its signature was changed', async () => {
      const { url } = await store.presign(key, { ttlMs: 60_000 });
      await store.put(bundleKey('d'.repeat(64)), body, { contentType: 'application/gzip' });
      const tampered = [
        url.replace('c'.repeat(64), 'd'.repeat(64)),
        url.replace(/(signature=[^&]*)(.)(&|$)/i, (_, head, last, tail) => `${head}${last === 'a' ? 'b' : 'a'}${tail}`),
        url.replace(/expires=\d+/i, (text) => `${text}0`),
        url.replace(/(signature=)[^&]+/i, (_, name) => name + '0'.repeat(64)),
      ];
      for (const each of tampered) {
        expect(each).not.toBe(url);
        expect([each, (await subject.follow(each)).status]).toEqual([each, 403]);
      }
    });

    it('is rejected after it has expired', async () => {
      const past = await subject.open(() => Date.now() - 60_000);
      const [short, long] = [await past.presign(key, { ttlMs: 50_000 }), await past.presign(key, { ttlMs: 3_600_000 })];
      await past.close();
      expect([(await subject.follow(short.url)).status, (await subject.follow(long.url)).status]).toEqual([403, 200]);
    });
  });
}
