import { generateKeyPairSync, verify } from 'node:crypto';
import { readSettings } from '../../programs/settings/environment.ts';
import { problemsOf } from './problems-of.ts';

describe('the environment', () => {
  test('has the documented defaults', () => {
    expect(readSettings({})).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      platformPort: 3100,
      deploymentPort: 3200,
      temporalPort: 7233,
      temporalUiPort: 8233,
      temporalConfigured: false,
      bundleLinkTtlMs: 86_400_000,
      minRefreshIntervalMs: 30_000,
      databaseUrl: undefined,
      logLevel: 'info',
    });
  });

  test('treats an empty variable as unset', () => {
    expect(readSettings({ PORT: '', DATABASE_URL: '', TEMPORAL_ADDRESS: '' })).toMatchObject({
      port: 3000,
      databaseUrl: undefined,
      temporalConfigured: false,
    });
  });

  test('names every invalid variable with its expected form, but never its value', () => {
    const problems = problemsOf({
      PORT: '70000',
      PLATFORM_PORT: '-1',
      DATABASE_URL: 'mysql://user:hidden@host/db',
      OBJECT_STORE_URL: 'ftp://host',
      BUNDLE_LINK_TTL: '1 day',
      EXPORT_KEEP: '20',
      PLATFORM_PUBLIC_URL: 'files.example.com',
      TRUSTED_PROXIES: '10.0.0.0/8,loopback',
      UNSUBSCRIBE_SECRET: 'hidden',
      EXPORT_CONNECTIONS: '0',
      EXPORT_MAX_FILES: 'many',
      EXPORT_MAX_DECODED_BYTES: '5 GB',
      EXPORT_MAX_BYTES: '0B',
      OPERATOR_TOKEN: 'two hidden words',
      GALLEY_ENCRYPTION_KEY: 'aGlkZGVu',
      LOG_LEVEL: 'loud',
      WORKER_DEPLOYMENT: 'two.parts',
    });
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'PORT',
      'PLATFORM_PORT',
      'DATABASE_URL',
      'OBJECT_STORE_URL',
      'BUNDLE_LINK_TTL',
      'EXPORT_KEEP',
      'PLATFORM_PUBLIC_URL',
      'TRUSTED_PROXIES',
      'UNSUBSCRIBE_SECRET',
      'EXPORT_CONNECTIONS',
      'EXPORT_MAX_FILES',
      'EXPORT_MAX_DECODED_BYTES',
      'EXPORT_MAX_BYTES',
      'OPERATOR_TOKEN',
      'GALLEY_ENCRYPTION_KEY',
      'LOG_LEVEL',
      'WORKER_DEPLOYMENT',
    ]);
    expect(problems.every((problem) => problem.includes('expected'))).toBe(true);
    expect(problems.join()).not.toContain('hidden');
  });

  test("requires both parts of a worker's version", () => {
    expect(readSettings({ WORKER_DEPLOYMENT: 'galley', WORKER_BUILD_ID: '0.2.0' }).workerVersion).toEqual({
      deploymentName: 'galley',
      buildId: '0.2.0',
    });
    expect(problemsOf({ WORKER_BUILD_ID: '0.2.0' })).toEqual([expect.stringMatching(/^WORKER_DEPLOYMENT: expected/)]);
    expect(problemsOf({ WORKER_DEPLOYMENT: 'galley' })).toEqual([expect.stringMatching(/^WORKER_BUILD_ID: expected/)]);
  });

  test('names the position of an invalid encryption key, but prints none', () => {
    const good = Buffer.alloc(32, 7).toString('base64');
    const problems = problemsOf({ GALLEY_ENCRYPTION_KEY: `${good},aGlkZGVu,${good},` });
    expect(problems).toEqual([
      expect.stringMatching(/^GALLEY_ENCRYPTION_KEY: entry 2 of 4: expected 32 bytes in base64/),
      expect.stringMatching(/^GALLEY_ENCRYPTION_KEY: entry 4 of 4: expected/),
    ]);
    expect(problems.join()).not.toMatch(new RegExp(`aGlkZGVu|${good}`));
  });

  test('parses durations, the key and addresses', () => {
    const settings = readSettings({
      BUNDLE_LINK_TTL: '90s',
      EXPORT_KEEP: '20,90d',
      EXPORT_CONNECTIONS: '12',
      EXPORT_MAX_FILES: '300000',
      EXPORT_MAX_DECODED_BYTES: '5TiB',
      EXPORT_MAX_BYTES: '1000000',
      GALLEY_ENCRYPTION_KEY: [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64')).join(', '),
      PLATFORM_PUBLIC_URL: 'https://files.example.com/',
      GALLEY_HOME: 'state',
    });
    expect(settings.bundleLinkTtlMs).toBe(90_000);
    expect(settings.exportKeep).toEqual({ newest: 20, linkedWithinMs: 90 * 86_400_000 });
    expect(() => readSettings({ EXPORT_KEEP: '20,1h' })).toThrow(/^EXPORT_KEEP: .*BUNDLE_LINK_TTL \(1d\)/);
    expect(settings.exportLimits).toEqual({
      maxConcurrency: 12,
      maxFiles: 300_000,
      maxUrls: 300_000,
      maxDecodedBytes: 5 * 1024 ** 4,
      maxStoredBytes: 1_000_000,
    });
    expect(settings.encryptionKeys).toEqual([Buffer.alloc(32, 7), Buffer.alloc(32, 8)]);
    expect(settings.platformPublicUrl).toBe('https://files.example.com');
    expect(settings.home).toBe(`${process.cwd()}/state`);
  });

  test('reads the key that signs bundles, and rejects another kind of key', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const signature = readSettings({ BUNDLE_SIGNING_KEY: pem }).bundleSigner?.sign(Buffer.from('manifest')) ?? '';
    expect(verify(null, Buffer.from('manifest'), publicKey, Buffer.from(signature, 'base64'))).toBe(true);
    expect(() => readSettings({ BUNDLE_SIGNING_KEY: 'secret' })).toThrow(
      /^BUNDLE_SIGNING_KEY: expected an ed25519 private key as PEM or base64/,
    );
  });
});
