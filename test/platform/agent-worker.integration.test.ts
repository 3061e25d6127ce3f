import pino from 'pino';
import { TASK_QUEUES } from '../../contract/names.ts';
import { createAgentWorker, createPlatformWorker, type PlatformWorkerDeps } from '../../platform/worker.ts';
import { type AgentFixture, startAgentFixture } from '../helpers/agent-fixture.ts';
import { createAgentRepository } from '../helpers/agent-repository.ts';
import { runWorker } from '../helpers/run-worker.ts';
import { ScriptRunner } from '../helpers/script-runner.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { createDatabase } from '../helpers/test-database.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';

let fixture: AgentFixture;
beforeAll(async () => {
  fixture = await startAgentFixture(await createDatabase());
});
afterAll(() => fixture?.stop());

it('leaves agent runs to the agent worker, and runs every other step of a job', async () => {
  const { temporal, db, objects, agents } = fixture;
  const repository = await createAgentRepository();
  const options = (runner: ScriptRunner) => ({
    ...{ db, objects, logger: pino({ level: 'silent' }), searchAttributes: true },
    connection: temporal.nativeConnection,
    namespace: temporal.namespace,
    taskQueue: TASK_QUEUES.platform,
    workflowBundle: workflowBundles.platform,
    agents: { ...agents, runner },
  });
  const [unused, used] = [new ScriptRunner(), new ScriptRunner()];
  const withoutAgents: PlatformWorkerDeps = { ...options(unused), runsAgents: false };
  const platform = runWorker(await createPlatformWorker(withoutAgents));
  try {
    const { id } = await fixture.add({ repository: repository.url, prompt: 'write new.md fresh' });
    await fixture.start(id);
    const isWaiting = async (): Promise<boolean> => {
      const { raw } = await temporal.client.workflow.getHandle(id).describe();
      return (raw.pendingActivities ?? []).some(({ activityType }) => activityType?.name === 'runAgent');
    };
    await waitFor(isWaiting, { describe: 'scheduled the agent run' });
    const agentWorker = runWorker(await createAgentWorker(options(used)));
    try {
      expect(await fixture.end(id)).toMatchObject({ status: 'completed', prLink: expect.stringContaining('/pulls/') });
    } finally {
      await agentWorker.stop();
    }
    expect(used.tasks.map(({ jobId }) => jobId)).toEqual([id]);
    expect(unused.tasks).toEqual([]);
  } finally {
    await platform.stop();
    await repository.remove();
  }
});
