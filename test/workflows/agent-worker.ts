import { Context } from '@temporalio/activity';
import { type NativeConnection, Worker } from '@temporalio/worker';
import type { Activities } from '../../activities/create-activities.ts';
import { poolTaskQueue, TASK_QUEUES } from '../../contract/names.ts';
import { createTogether } from '../../contract/worker-options.ts';
import { runWorker } from '../helpers/run-worker.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';

/** The names of the activities that the agents' workflows call. */
const NAMES = [
  'readRuleSettings',
  'renderAgentPrompt',
  'createAgentJob',
  'pollAgentJob',
  'readLastWords',
  'cancelAgentJob',
  'messageAgentJob',
  'renderFollowUp',
  'planReview',
  'requestReview',
  'readPullRequest',
  'followPullRequest',
  'sendReviewMail',
  'sendOperatorMail',
  'sendRuleMail',
  'startNotifications',
] as const;

/** Where these workflows' activities run. */
const POOLS = ['settings', 'admin-api', 'forge', 'mail', 'review-mail'] as const;

export type AgentActivities = Pick<Activities, (typeof NAMES)[number]>;

export type AgentWorker = {
  taskQueue: string;
  /** Sets the activities for the workflows of a site. */
  serve(site: string, activities: AgentActivities): void;
  /** Does nothing if it already runs. `build` is the build id. */
  start(build?: string): Promise<void>;
  stop(): Promise<void>;
};

let workers = 0;

/**
 * A worker that many fixtures share, because starting one takes a second of CPU time. It finds the activity stubs by the
 * workflow's site, so leftover workflows of one test never affect another test.
 */
export function createAgentWorker(connection: NativeConnection, namespace: string): AgentWorker {
  const taskQueue = `${TASK_QUEUES.orchestrator}-agents-${process.pid}-${++workers}`;
  const served = new Map<string, AgentActivities>();
  let running: Promise<{ stop(): Promise<void> }> | undefined;

  const own = (): AgentActivities => {
    const id = Context.current().info.workflowExecution?.workflowId ?? '';
    const activities = served.get(id.split(':')[1] ?? '');
    if (activities === undefined) throw new Error(`No fixture serves the workflow ${id}`);
    return activities;
  };
  const activities = Object.fromEntries(NAMES.map((name) => [name, (input: never) => own()[name](input)]));

  return {
    taskQueue,
    serve: (site, those) => void served.set(site, those),
    async start(buildId = 'one') {
      const workflowBundle = workflowBundles.orchestrator;
      const version = { deploymentName: 'galley', buildId };
      const workerDeploymentOptions = { version, useWorkerVersioning: false } as const;
      const options = { connection, namespace, activities, workerDeploymentOptions };
      const create = () =>
        createTogether([
          Worker.create({ ...options, taskQueue, workflowBundle }),
          ...POOLS.map((pool) => Worker.create({ ...options, taskQueue: poolTaskQueue(taskQueue, pool) })),
        ]);
      running ??= create().then(runWorker);
      await running;
    },
    async stop() {
      const stopped = running;
      running = undefined;
      await (await stopped)?.stop();
    },
  };
}
