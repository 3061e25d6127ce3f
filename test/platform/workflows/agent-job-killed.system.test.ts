import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { getAgentRun } from '../../../platform/store/agent-runs.ts';
import { pullRequests } from '../../../platform/store/schema/pull-requests.ts';
import { type AgentFixture, startAgentFixture } from '../../helpers/agent-fixture.ts';
import { type AgentRepository, createAgentRepository } from '../../helpers/agent-repository.ts';
import { type HoldAt, startAgentWorkerProcess } from '../../helpers/agent-worker-process.ts';
import type { WorkerProcess } from '../../helpers/platform-worker-process.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { createDatabase } from '../../helpers/test-database.ts';

/** Of `temporal.api.enums.v1.PendingActivityState`. */
const STARTED = 2;

let fixture: AgentFixture;
let repository: AgentRepository;
const workers: WorkerProcess[] = [];

async function startWorker(identity: string, holdAt: HoldAt = null): Promise<WorkerProcess> {
  const heldFile = join(fixture.folder, `held-${identity}`);
  const worker = await startAgentWorkerProcess({ ...fixture.addresses, identity, holdAt, heldFile });
  workers.push(worker);
  return worker;
}

async function untilHeld(identity: string): Promise<void> {
  const file = join(fixture.folder, `held-${identity}`);
  await waitFor(() => stat(file), { describe: `held ${identity}`, everyMs: 20 });
  await rm(file);
}

beforeAll(async () => {
  fixture = await startAgentFixture(await createDatabase());
});

beforeEach(async () => {
  repository = await createAgentRepository();
});

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill();
  await rm(fixture.addresses.workDir, { recursive: true, force: true });
  await repository.remove();
});

afterAll(async () => {
  await fixture.stop();
});

describe('a worker killed without warning', () => {
  it.each(['agent-done', 'before-pushing', 'before-opening', 'after-opening', 'at-the-end'] as const)(
    '%s leaves one branch, one commit and one pull request, once another has gone on',
    async (holdAt) => {
      const first = await startWorker('first', holdAt);
      const { id, branch } = await fixture.add({ repository: repository.url, prompt: 'write a.txt 1\nprint done' });
      await fixture.start(id);
      await untilHeld('first');
      const pushed = await repository.head(branch);
      expect(pushed === undefined).toBe(holdAt === 'agent-done' || holdAt === 'before-pushing');
      await first.kill();
      await startWorker('second');
      const job = await fixture.end(id);
      expect(job).toMatchObject({ status: 'completed', error: null });
      expect(await repository.git('rev-list', '--count', `main..${branch}`)).toBe('1');
      if (pushed !== undefined) expect(await repository.head(branch)).toBe(pushed);
      expect((await repository.git('branch', '--list')).split('\n')).toHaveLength(2);
      const opened = (await fixture.db.select().from(pullRequests)).filter((row) => row.headBranch === branch);
      expect(opened.map(({ id: number }) => job.prLink?.endsWith(number))).toEqual([true]);
      expect((await getAgentRun(fixture.db, { jobId: id, run: 1 }))?.commit).toBe(await repository.head(branch));
    },
  );
});

describe('two workers', () => {
  it('share the steps of many jobs, and a worker that stops hands its agent to the other', async () => {
    const first = await startWorker('one');
    const jobs = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        fixture.add({
          repository: repository.url,
          prompt: `pause ${index === 0 ? 9_000 : 1_500}\nwrite ${index}.txt x`,
        }),
      ),
    );
    // The first one's agent works for longer than a worker that stops waits for it.
    for (const job of jobs) await fixture.start(job.id);
    const handle = fixture.temporal.client.workflow.getHandle(jobs[0]?.id ?? '');
    const working = async () => {
      const { pendingActivities = [] } = (await handle.describe()).raw;
      return pendingActivities?.some(
        ({ activityType, state }) => activityType?.name === 'runAgent' && state === STARTED,
      );
    };
    await waitFor(working, { describe: 'worked on the first job' });
    await startWorker('two');
    await first.stop();
    for (const { id } of jobs) expect(await fixture.end(id)).toMatchObject({ status: 'completed', error: null });
    const opened = await fixture.db.select().from(pullRequests);
    const branches = jobs.map(({ branch }) => opened.filter((row) => row.headBranch === branch).length);
    expect(branches).toEqual(jobs.map(() => 1));
  });
});
