import { readSettings } from '../../cli/environment.ts';
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

  test('counts a variable that is set but empty as unset', () => {
    expect(readSettings({ PORT: '', DATABASE_URL: '', TEMPORAL_ADDRESS: '' })).toMatchObject({
      port: 3000,
      databaseUrl: undefined,
      temporalConfigured: false,
    });
  });

  test('names every wrong variable and what was expected, and no value', () => {
    const problems = problemsOf({
      PORT: '70000',
      PLATFORM_PORT: '-1',
      DATABASE_URL: 'mysql://user:hidden@host/db',
      OBJECT_STORE_URL: 'ftp://host',
      BUNDLE_LINK_TTL: '1 day',
      PLATFORM_PUBLIC_URL: 'files.example.com',
      EXPORT_CONNECTIONS: '0',
      OPERATOR_TOKEN: 'two hidden words',
      GALLEY_ENCRYPTION_KEY: 'aGlkZGVu',
      LOG_LEVEL: 'loud',
    });
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'PORT',
      'PLATFORM_PORT',
      'DATABASE_URL',
      'OBJECT_STORE_URL',
      'BUNDLE_LINK_TTL',
      'PLATFORM_PUBLIC_URL',
      'EXPORT_CONNECTIONS',
      'OPERATOR_TOKEN',
      'GALLEY_ENCRYPTION_KEY',
      'LOG_LEVEL',
    ]);
    expect(problems.every((problem) => problem.includes('expected'))).toBe(true);
    expect(problems.join()).not.toContain('hidden');
  });

  test('reads durations, the key and the addresses to what the program needs', () => {
    const settings = readSettings({
      BUNDLE_LINK_TTL: '90s',
      EXPORT_CONNECTIONS: '12',
      GALLEY_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      PLATFORM_PUBLIC_URL: 'https://files.example.com/',
      GALLEY_HOME: 'state',
    });
    expect(settings.bundleLinkTtlMs).toBe(90_000);
    expect(settings.exportConnections).toBe(12);
    expect(settings.encryptionKey).toHaveLength(32);
    expect(settings.platformPublicUrl).toBe('https://files.example.com');
    expect(settings.home).toBe(`${process.cwd()}/state`);
  });
});
