import type { Logger } from 'pino';
import { startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import { createDatabase, type TestDatabase } from '../../helpers/test-database.ts';
import { type ApiClient, createApiClient } from './api-client.ts';

export type Staged = { database: TestDatabase; platform: TestPlatform; api: ApiClient };

/** Gives the tests of the calling `describe` a platform over an embedded database, and a client of it. */
export function usePlatform(take: (given: Staged) => void, deps: { logger?: Logger } = {}): void {
  let database: TestDatabase;
  let platform: TestPlatform;

  beforeAll(async () => {
    database = await createDatabase();
    platform = await startTestPlatform(database, deps);
    take({ database, platform, api: createApiClient(platform.baseUrl) });
  });
  afterAll(async () => {
    await platform?.stop();
    await database?.stop();
  });
}
