import { agentJob } from '../../../../contract/admin-api.ts';
import { lockUntilCommit } from '../../../../platform/store/locks.ts';
import { startTestPlatform } from '../../../helpers/platform-api.ts';
import { createCleanups } from '../../../helpers/system/cleanups.ts';
import { waitFor } from '../../../helpers/system/wait-for.ts';
import { createDatabase } from '../../../helpers/test-database.ts';
import { createApiClient } from '../api-client.ts';
import { createPath } from './agent-bench.ts';

const cleanups = createCleanups();

afterEach(cleanups.run);

test('a prompt that waited for its turn counts from when that came, not from when it was sent', async () => {
  const postgres = await createDatabase();
  cleanups.add(postgres.stop);
  const platform = await startTestPlatform(postgres);
  cleanups.add(platform.stop);
  const customer = await platform.addCustomer();
  const { db } = platform;
  const waiting = async (): Promise<boolean> => {
    const { rows } = await db.execute(`select 1 from pg_locks where locktype = 'advisory' and not granted`);
    return rows.length > 0;
  };
  let sent: Promise<{ status: number; body: unknown }> | undefined;
  await db.transaction(async (tx) => {
    await lockUntilCommit(tx, `agent:${customer.project}`);
    sent = createApiClient(platform.baseUrl).post(createPath(customer), {
      key: customer.key,
      body: { prompt: 'Do it' },
    });
    await waitFor(waiting, { describe: 'waited for the lock' });
    platform.advance(600_000);
  });
  const advancedAt = platform.now();
  const answer = await sent;
  expect(answer?.status).toBe(201);
  expect(Date.parse(agentJob.parse(answer?.body).createdAt)).toBeGreaterThan(advancedAt - 60_000);
});
