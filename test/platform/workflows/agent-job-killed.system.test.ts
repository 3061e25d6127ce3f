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

afterAll(() => fixture.stop());

describe('a worker killed without warning at', () => {
  it.each(['agent-done', 'before-pushing', 'before-opening', 'after-opening', 'at-the-end'] as const)(
    '%s: another worker continues, with one branch, one commit and one pull request',
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
