import { startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import type { TestDatabase } from '../../helpers/test-database.ts';

export type TwoPlatforms = [TestPlatform, TestPlatform];

/**
 * Gives the tests of the calling `describe` two servers of the platform over one database, both in this process; each
 * has a pool of its own where the database can.
 */
export function useTwoPlatforms(
  startDatabase: () => Promise<TestDatabase>,
  take: (platforms: TwoPlatforms) => void,
): void {
  let database: TestDatabase;
  let platforms: TwoPlatforms;

  beforeAll(async () => {
    database = await startDatabase();
    const first = await startTestPlatform(database);
    const shared = database.maxConnections === 1 ? { db: first.db } : {};
    platforms = [first, await startTestPlatform(database, { ...shared, objects: first.objects })];
    take(platforms);
  });
  afterAll(async () => {
    await platforms?.[1].stop();
    await platforms?.[0].stop();
    await database?.stop();
  });
}
