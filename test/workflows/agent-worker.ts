import { Context } from '@temporalio/activity';
import { type NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import type { Activities } from '../../activities/create-activities.ts';
import { TASK_QUEUES } from '../../contract/names.ts';
import { runWorker } from '../helpers/run-worker.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';

/** The activities that the agents' workflows call, as the worker has them. */
export type AgentActivities = Pick<
  Activities,
  | 'readRuleSettings'
  | 'createAgentJob'
  | 'pollAgentJob'
  | 'cancelAgentJob'
  | 'planReview'
  | 'requestReview'
  | 'readPullRequest'
  | 'followPullRequest'
  | 'sendReviewMail'
  | 'sendOperatorMail'
>;

export type AgentWorker = {
  taskQueue: string;
  /** What the workflows of this site call from now on. */
  serve(site: string, activities: AgentActivities): void;
  /** Does nothing while it runs. */
  start(options?: { workflowBundle?: WorkflowBundleOption }): Promise<void>;
  stop(): Promise<void>;
};

let workers = 0;

/**
 * A worker that many benches share, one after another or at once: to start one takes a second of processor time. Each
 * activity is told by its workflow's site, so what an ended test left behind never reaches the next one.
 */
export function createAgentWorker(connection: NativeConnection, namespace: string): AgentWorker {
  const taskQueue = `${TASK_QUEUES.orchestrator}-agents-${process.pid}-${++workers}`;
  const served = new Map<string, AgentActivities>();
  let running: { stop(): Promise<void> } | undefined;

  const own = (): AgentActivities => {
    const id = Context.current().info.workflowExecution?.workflowId ?? '';
    const activities = served.get(id.split(':')[1] ?? '');
    if (activities === undefined) throw new Error(`no bench has the workflow ${id}`);
    return activities;
  };
  const activities: AgentActivities = {
    readRuleSettings: (input) => own().readRuleSettings(input),
    createAgentJob: (input) => own().createAgentJob(input),
    pollAgentJob: (input) => own().pollAgentJob(input),
    cancelAgentJob: (input) => own().cancelAgentJob(input),
    planReview: (input) => own().planReview(input),
    requestReview: (input) => own().requestReview(input),
    readPullRequest: (input) => own().readPullRequest(input),
    followPullRequest: (input) => own().followPullRequest(input),
    sendReviewMail: (input) => own().sendReviewMail(input),
    sendOperatorMail: (input) => own().sendOperatorMail(input),
  };

  return {
    taskQueue,
    serve: (site, those) => void served.set(site, those),
    async start({ workflowBundle = workflowBundles.orchestrator } = {}) {
      running ??= runWorker(await Worker.create({ connection, namespace, taskQueue, workflowBundle, activities }));
    },
    async stop() {
      const stopped = running;
      running = undefined;
      await stopped?.stop();
    },
  };
}
