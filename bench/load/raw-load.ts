import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { z } from 'zod';
import { SIGNALS, TASK_QUEUES, WORKFLOW_IDS, WORKFLOW_TYPES } from '../../contract/names.ts';
import { closedLoop, loopOptions } from './closed-loop.ts';
import { oneDelivery } from './one-delivery.ts';

/**
 * A process that signals the sites' workflows directly, one delivery per call, with the receiver's payload, and prints
 * the measurement. It is the baseline for the receiver, which batches deliveries.
 */
const options = loopOptions.extend({
  address: z.string(),
  sites: z.array(z.string()).min(1),
  /** Temporal accepts 10,000 signals per execution. After this many, the load moves on to a new workflow. */
  signalsPerWorkflow: z.int().min(1),
});

const { address, sites, signalsPerWorkflow, ...loop } = options.parse(JSON.parse(process.argv[2] ?? ''));
const connection = await Connection.connect({ address });
const client = new Client({ connection });

const result = await closedLoop(loop, async (index) => {
  const generation = Math.floor(index / (sites.length * signalsPerWorkflow));
  const site = `${sites[index % sites.length]}${generation === 0 ? '' : `-${generation}`}`;
  return await client.workflow
    .signalWithStart(WORKFLOW_TYPES.exportSite, {
      taskQueue: TASK_QUEUES.orchestrator,
      workflowId: WORKFLOW_IDS.exportSite(site),
      args: [{ site }],
      signal: SIGNALS.published,
      signalArgs: [oneDelivery(randomUUID(), index)],
    })
    .then(
      () => true,
      () => false,
    );
});
await connection.close();
process.stdout.write(`${JSON.stringify(result)}\n`);
