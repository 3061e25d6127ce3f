import { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { TASK_QUEUES, WORKFLOW_TYPES } from '../../contract/names.ts';
import { refuseOtherBaseline } from '../../programs/temporal/temporal.ts';
import { runWorker } from '../helpers/run-worker.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import { eventOf } from '../workflows/agent-fixture.ts';

const { orchestrator, platform } = TASK_QUEUES;
const { exportSite, agentRule, agentChange, staticExportJob, agentJob } = WORKFLOW_TYPES;

let temporal: TestTemporal;

beforeAll(async () => {
  temporal = await connectTemporal();
});
afterAll(async () => {
  await temporal.stop();
});

const check = (): Promise<void> => refuseOtherBaseline(temporal, AbortSignal.timeout(60_000));

async function start(type: string, taskQueue: string, args: object): Promise<void> {
  await temporal.client.workflow.start(type, { taskQueue, workflowId: type, args: [args] });
}

async function untilListed(count: number, condition: string): Promise<void> {
  const query = `ExecutionStatus = 'Running' AND ${condition}`;
  await waitFor(async () => (await temporal.client.workflow.count(query)).count === count, { describe: 'listed them' });
}

/** Completes a run's first workflow task without a command, as a build that doesn't mark its runs. */
async function beginUnmarked(): Promise<void> {
  const { namespace, client } = temporal;
  await client.withDeadline(Date.now() + 60_000, async () => {
    const { taskToken } = await client.workflowService.pollWorkflowTaskQueue({
      namespace,
      taskQueue: { name: orchestrator },
    });
    await client.workflowService.respondWorkflowTaskCompleted({ namespace, taskToken, commands: [] });
  });
}

// In this order: each adds runs to the namespace.
describe('a start of a program', () => {
  it('is accepted in a new namespace, and beside runs that no worker has begun', async () => {
    await check();
    await start(exportSite, orchestrator, { site: 'handbook' });
    await start(agentJob, platform, { jobId: 'agt_1', run: 1 });
    await untilListed(2, 'BuildIds IS NULL');
    await check();
  });

  it('is accepted beside runs of this build, of each kind that lasts', async () => {
    await start(agentRule, orchestrator, { site: 'handbook', rule: 'changelog' });
    await start(agentChange, orchestrator, { site: 'handbook', rule: 'changelog', events: [eventOf('1', 'A page')] });
    await start(staticExportJob, platform, { jobId: 'se_1' });
    const { nativeConnection: connection, namespace } = temporal;
    // No worker runs their activities, so they last.
    const workers = await Promise.all([
      Worker.create({ connection, namespace, taskQueue: orchestrator, workflowBundle: workflowBundles.orchestrator }),
      Worker.create({ connection, namespace, taskQueue: platform, workflowBundle: workflowBundles.platform }),
    ]);
    const running = workers.map(runWorker);
    await untilListed(5, 'BuildIds IS NOT NULL');
    await Promise.all(running.map(({ stop }) => stop()));
    await check();
  });

  it('is refused beside a run of another build, with instructions', async () => {
    await temporal.client.workflow.getHandle(exportSite).terminate();
    await start(exportSite, orchestrator, { site: 'handbook' });
    await beginUnmarked();
    await untilListed(5, 'BuildIds IS NOT NULL');
    const where = `${temporal.namespace} at ${temporal.address}`;
    await expect(check()).rejects.toThrow(
      `TEMPORAL_NAMESPACE: expected no running workflows of another build of Galley, but ${where} has 1: terminate them`,
    );
  });

  it('is accepted if Temporal can’t say', async () => {
    const client = new Client({ connection: temporal.client.connection, namespace: 'a-missing-one' });
    await refuseOtherBaseline({ ...temporal, client }, AbortSignal.timeout(60_000));
  });
});
