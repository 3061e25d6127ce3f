import { sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import { createOpenApiCheck, type OpenApiCheck } from '../../helpers/openapi-check.ts';
import { type Customer, startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import { createDatabase, type TestDatabase } from '../../helpers/test-database.ts';
import { type ApiClient, createApiClient } from './api-client.ts';

export type ApiFixture = {
  database: TestDatabase;
  platform: TestPlatform;
  check: OpenApiCheck;
  /** Checks each response against the OpenAPI document. */
  api: ApiClient;
  stop(): Promise<void>;
};

export async function startApi(deps: { logger?: Logger } = {}): Promise<ApiFixture> {
  const database = await createDatabase();
  const platform = await startTestPlatform(database, deps);
  const check = createOpenApiCheck(await (await fetch(`${platform.baseUrl}/openapi.json`)).json());
  return {
    ...{ database, platform, check },
    api: createApiClient(platform.baseUrl, check),
    async stop() {
      await platform.stop();
      await database.stop();
    },
  };
}

/** Gives the tests of the calling `describe` a platform with its own database, and a client. */
export function useApi(take: (fixture: ApiFixture) => void, deps: { logger?: Logger } = {}): void {
  let fixture: ApiFixture | undefined;

  beforeAll(async () => {
    fixture = await startApi(deps);
    take(fixture);
  });
  afterAll(() => fixture?.stop());
}

/** Records uses of an hourly limit, as that many accepted requests would. */
export async function logUses(
  { db, now }: TestPlatform,
  { project }: Customer,
  { of, count }: { of: 'starts' | 'prompts'; count: number },
): Promise<void> {
  const scope = of === 'starts' ? sql`'static-export:' || organization_id` : sql`'agent:' || id`;
  await db.execute(sql`
    insert into usage_log (scope, used_at)
    select ${scope}, ${new Date(now())} from projects, generate_series(1, ${count}::integer) where id = ${project}`);
}
