import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentFixture, startAgentFixture } from '../../helpers/agent-fixture.ts';
import { createAgentRepository } from '../../helpers/agent-repository.ts';
import type { AgentWorkerOptions } from '../../helpers/agent-worker-main.ts';
import { startProcess, type WorkerProcess } from '../../helpers/platform-worker-process.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { createDatabase } from '../../helpers/test-database.ts';

let fixture: AgentFixture;
const workers: WorkerProcess[] = [];

async function startWorker(identity: string, heldFile: string | null): Promise<WorkerProcess> {
  const options: AgentWorkerOptions = { ...fixture.addresses, identity, heldFile };
  const worker = await startProcess('test/helpers/agent-worker-main.ts', options);
  workers.push(worker);
  return worker;
}

beforeAll(async () => {
  fixture = await startAgentFixture(await createDatabase());
});

afterAll(async () => {
  for (const worker of workers) await worker.kill();
  await fixture.stop();
});

// What a worker has done of a later step when it dies is done once all the same: agent-activities.integration.test.ts.
it('runs an agent again whose worker was killed without warning', async () => {
  const repository = await createAgentRepository();
  const heldFile = join(fixture.folder, 'held');
  const first = await startWorker('first', heldFile);
  const { id, branch } = await fixture.add({ repository: repository.url, prompt: 'write a.txt 1' });
  await fixture.start(id);
  await waitFor(() => stat(heldFile), { describe: 'held the agent', everyMs: 20 });
  await first.kill();
  expect(await fixture.leftovers()).toHaveLength(1);
  await startWorker('second', null);
  expect(await fixture.end(id)).toMatchObject({ status: 'completed', error: null });
  expect(await repository.git('rev-list', '--count', `main..${branch}`)).toBe('1');
  await repository.remove();
});
