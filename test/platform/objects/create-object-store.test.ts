import { S3Client } from '@aws-sdk/client-s3';
import { jest } from '@jest/globals';
import { createObjectStore } from '../../../platform/objects/create-object-store.ts';
import { createS3Presigner } from '../../../platform/objects/s3-store.ts';

describe('the object store URL', () => {
  it.each([
    ['', 'expected file:///folder or s3://'],
    ['/var/lib/galley', 'expected file:///folder or s3://'],
    ['http://127.0.0.1/bucket', 'expected file:///folder or s3://'],
    ['file://host/folder', 'expected file:///folder or s3://'],
    ['s3://key:secret@bucket', 'no credentials'],
    ['s3://bucket/folder', 's3://bucket with no path'],
    ['s3://Bucket_1', 's3://bucket with no path'],
    ['s3://bucket?endpoint=nowhere', 'endpoint'],
    ['s3://bucket?pathStyle=yes', 'pathStyle'],
    ['s3://bucket?secret=hush', 'secret'],
  ])('%j is rejected with the expected form', async (url, message) => {
    await expect(createObjectStore({ url })).rejects.toThrow(message);
  });

  it('sets the public endpoint that links use', async () => {
    const saved = { ...process.env };
    process.env.AWS_ACCESS_KEY_ID = 'k';
    process.env.AWS_SECRET_ACCESS_KEY = 's';
    const query = 'endpoint=http://10.0.0.1:7070&publicEndpoint=https://files.example.com';
    const store = await createObjectStore({ url: `s3://galley-bundles?${query}` });
    const { url } = await store.presign('a/b', { ttlMs: 60_000 });
    process.env = saved;
    expect(url).toMatch(/^https:\/\/files\.example\.com\/galley-bundles\/a\/b\?/);
    expect(store.maxLinkTtlMs).toBe(7 * 86_400_000);
    await store.close();
  });
});

describe('a link on S3', () => {
  const nowMs = Date.parse('2026-11-21T10:00:00.700Z');

  function presigner(expiration?: Date) {
    const credentials = async () => ({
      accessKeyId: 'k',
      secretAccessKey: 's',
      ...(expiration && { sessionToken: 't', expiration }),
    });
    const client = new S3Client({ region: 'us-east-1', credentials });
    return createS3Presigner({ bucket: 'galley-bundles', client, now: () => nowMs });
  }

  it('expires at the latest with the credentials that signed it', async () => {
    // Later than the few minutes in which the SDK already refreshes credentials.
    const expiration = new Date(nowMs + 3_600_000);
    jest.useFakeTimers({ now: nowMs, doNotFake: ['nextTick', 'setImmediate', 'setTimeout', 'queueMicrotask'] });
    try {
      const { url, expiresAt } = await presigner(expiration).presign('a', { ttlMs: 86_400_000 });
      expect(expiresAt.getTime()).toBeLessThanOrEqual(expiration.getTime());
      expect(expiresAt.toISOString()).toBe('2026-11-21T11:00:00.000Z');
      expect(new URL(url).searchParams.get('X-Amz-Expires')).toBe('3600');
    } finally {
      jest.useRealTimers();
    }
  });

  it('has the requested lifetime if the credentials never expire', async () => {
    const { expiresAt } = await presigner().presign('a', { ttlMs: 7 * 86_400_000 });
    expect(expiresAt.toISOString()).toBe('2026-11-28T10:00:00.000Z');
  });

  it('rejects a lifetime above the limit of signatures', async () => {
    await expect(presigner().presign('a', { ttlMs: 7 * 86_400_000 + 1000 })).rejects.toThrow('at most 7d');
  });
});
