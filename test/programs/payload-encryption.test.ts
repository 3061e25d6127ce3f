import { createPayloadEncryption } from '../../programs/temporal/payload-encryption.ts';

const key = Buffer.alloc(32, 1);
const payload = {
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from('{"bundleUrl":"https://files.example.com/secret"}'),
};

describe('payload encryption', () => {
  test('encrypts data and metadata for Temporal, and decrypts both', async () => {
    const codec = createPayloadEncryption(key);
    const [sealed] = await codec.encode([payload]);
    expect(Buffer.from(sealed?.data ?? []).toString('latin1')).not.toContain('secret');
    expect(Object.values(sealed?.metadata ?? {}).join()).not.toContain('json/plain');
    const [opened] = await codec.decode(sealed ? [sealed] : []);
    expect(opened?.data?.toString()).toBe(payload.data.toString());
    expect(opened?.metadata?.encoding?.toString()).toBe('json/plain');
  });

  test('never encrypts the same payload to the same bytes', async () => {
    const codec = createPayloadEncryption(key);
    const [first, second] = await codec.encode([payload, payload]);
    expect(first?.data).not.toEqual(second?.data);
  });

  test('reads payloads from before encryption was enabled', async () => {
    expect(await createPayloadEncryption(key).decode([payload])).toEqual([payload]);
  });

  test('reports a different key', async () => {
    const sealed = await createPayloadEncryption(Buffer.alloc(32, 2)).encode([payload]);
    await expect(createPayloadEncryption(key).decode(sealed)).rejects.toThrow(/GALLEY_ENCRYPTION_KEY lacks the key/);
  });

  test('decrypts with every key of a list, and encrypts with the first', async () => {
    const [first, second] = [Buffer.alloc(32, 2), Buffer.alloc(32, 3)];
    const before = await createPayloadEncryption(first).encode([payload]);
    const rotating = createPayloadEncryption(second, first);
    const [opened] = await rotating.decode(before);
    expect(opened?.data?.toString()).toBe(payload.data.toString());
    const after = await rotating.encode([payload]);
    await expect(createPayloadEncryption(second).decode(after)).resolves.toHaveLength(1);
    await expect(createPayloadEncryption(first).decode(after)).rejects.toThrow(/lacks the key/);
  });

  test('rejects changed data', async () => {
    const codec = createPayloadEncryption(key);
    const [sealed] = await codec.encode([payload]);
    const bytes = Buffer.from(sealed?.data ?? []);
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    await expect(codec.decode([{ metadata: sealed?.metadata ?? {}, data: bytes }])).rejects.toThrow();
  });
});
