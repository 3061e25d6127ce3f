import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { galley, type RunningGalley, startGalley } from '../../../helpers/galley.ts';
import { createCleanups } from '../../../helpers/system/cleanups.ts';
import { createDatabase } from '../../../helpers/test-database.ts';
import { createApiClient } from '../api-client.ts';

const cleanups = createCleanups();

afterEach(cleanups.run);

const times = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

test('two processes of the platform over one database accept 100 prompts an hour together, and each refuses the 101st', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'galley-processes-'));
  cleanups.add(() => rm(folder, { recursive: true, force: true }));
  const postgres = await createDatabase();
  cleanups.add(postgres.stop);
  // Temporal is away: what was accepted waits in the database.
  const variables = {
    ...{ PLATFORM_PORT: '0', GALLEY_HOME: folder, LOG_LEVEL: 'error' },
    ...{ DATABASE_URL: postgres.url, TEMPORAL_ADDRESS: '127.0.0.1:1' },
  };
  const processes: RunningGalley[] = [];
  for (const _ of times(2)) {
    const started = await startGalley(['platform'], variables);
    cleanups.add(() => started.stop('SIGKILL'));
    processes.push(started);
  }
  expect(new Set(processes.map(({ process }) => process.pid)).size).toBe(2);
  const { stdout } = await galley(['keys', 'create', '--organization', 'acme', '--json'], variables);
  const { key } = JSON.parse(stdout);
  const project = ['--project', 'prj_docs', '--domain', 'docs.example.com'];
  const repository = ['--repository', 'https://git.example.com/docs.git'];
  const added = await galley(['projects', 'add', '--organization', 'acme', ...project, ...repository], variables);
  expect(added).toMatchObject({ code: 0 });

  const clients = processes.map(({ ready }) => createApiClient(/http[^\s/]+\/\/[^\s/]+/.exec(ready)?.[0] ?? ''));
  const create = async (index: number) => {
    const answer = await clients[index % 2]?.post('/v2/agent/prj_docs/job', { key, body: { prompt: `Do ${index}` } });
    if (answer === undefined) throw new Error('There is no such process');
    return answer;
  };
  // As many at once as the processes have connections, so that nobody waits for one too long.
  for (const batch of times(12)) {
    const answers = await Promise.all(times(8).map((index) => create(batch * 8 + index)));
    expect(answers.map(({ status }) => status)).toEqual(times(8).map(() => 201));
  }
  // The last four slots go to four of ten at once, five to each process.
  const last = await Promise.all(times(10).map(create));
  expect(last.map(({ status }) => status).sort()).toEqual([...times(4).map(() => 201), ...times(6).map(() => 429)]);

  for (const index of times(2)) {
    const refused = await create(index);
    expect([refused.status, refused.headers.get('ratelimit-remaining')]).toEqual([429, '0']);
    expect(refused.error).toContain('100 per hour');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const jobs = await clients[index]?.get('/v2/agent/prj_docs/jobs?limit=100', { key });
    expect(JSON.parse(jobs?.text ?? '{}').jobs).toHaveLength(100);
  }
});
