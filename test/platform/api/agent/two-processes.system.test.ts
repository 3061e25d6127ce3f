import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { createKey } from '../../../../platform/admin/api-keys.ts';
import { addProject } from '../../../../platform/admin/projects.ts';
import { openDatabase } from '../../../../platform/store/database.ts';
import { startGalley } from '../../../helpers/galley.ts';
import { createCleanups } from '../../../helpers/system/cleanups.ts';
import { createDatabase } from '../../../helpers/test-database.ts';
import { createApiClient } from '../api-client.ts';

const cleanups = createCleanups();

afterEach(cleanups.run);

test('two processes on one database accept 100 prompts an hour together, and each refuses the 101st', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'galley-processes-'));
  cleanups.add(() => rm(folder, { recursive: true, force: true }));
  const postgres = await createDatabase();
  cleanups.add(postgres.stop);
  const db = await openDatabase({ ...postgres, logger: pino({ level: 'silent' }) });
  cleanups.add(db.close);
  const { key, organization } = await createKey(db, { organization: 'acme', plan: 'free' });
  const repository = 'https://git.example.com/docs.git';
  await addProject(db, { organization, project: 'prj_docs', domain: 'docs.example.com', repository });
  await db.execute(
    sql`insert into usage_log (scope, used_at) select 'agent:prj_docs', now() from generate_series(1, 96)`,
  );
  // Temporal is away: what was accepted waits in the database.
  const variables = {
    ...{ PLATFORM_PORT: '0', GALLEY_HOME: folder, LOG_LEVEL: 'error' },
    ...{ DATABASE_URL: postgres.url, TEMPORAL_ADDRESS: '127.0.0.1:1' },
  };
  const processes = await Promise.all(['one', 'two'].map(() => startGalley(['platform'], variables)));
  for (const each of processes) cleanups.add(() => each.stop('SIGKILL'));
  const clients = processes.map(({ ready }) => createApiClient(/http[^\s/]+\/\/[^\s/]+/.exec(ready)?.[0] ?? ''));
  const create = () =>
    clients.map((client) => client.post('/v2/agent/prj_docs/job', { key, body: { prompt: 'Do it' } }));

  // The last four slots go to four of ten at once, five to each process.
  const responses = await Promise.all([1, 2, 3, 4, 5].flatMap(create));
  expect(responses.map(({ status }) => status).sort()).toEqual([...Array(4).fill(201), ...Array(6).fill(429)]);
  for (const refused of await Promise.all(create())) {
    expect([refused.status, refused.headers.get('ratelimit-remaining')]).toEqual([429, '0']);
  }
});
