import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import { grpcCode } from '../../contract/grpc-code.ts';
import { WORKFLOW_IDS, WORKFLOW_TYPES } from '../../contract/names.ts';
import { type ListedSite, linkLateAtMs } from '../../contract/site-state.ts';
import { PROBLEM_KINDS, type Problem, problemKey } from '../../contract/watchdog.ts';
import { listSites } from '../sites/list-sites.ts';
import type { ReadSite } from '../sites/read-site.ts';

export type FindProblemsDeps = {
  readSite: ReadSite;
  /** The worker's own client by default. */
  client?: Client | undefined;
};

/** Keeps the result small. The others follow once some of these are solved. */
const MAX_PROBLEMS = 1_000;
const PAGE_SIZE = 1_000;
/** Concurrent calls, so that a check doesn't slow down others. */
const CALLS_AT_A_TIME = 10;
/** The first two failures may be a worker that was killed or that starts with a new release. */
const FAILING_FROM_ATTEMPT = 3;
/** gRPC's code for a query that the server doesn't understand. */
const INVALID_ARGUMENT = 3;

const WATCHED = [WORKFLOW_TYPES.exportSite, WORKFLOW_TYPES.agentRule, WORKFLOW_TYPES.agentChange]
  .map((type) => `'${type}'`)
  .join(', ');
const RUNNING = `WorkflowType IN (${WATCHED}) AND ExecutionStatus = 'Running'`;

/** Finds what no site's workflow can report itself, without asking any of them. */
export async function findProblems({ readSite, client: own }: FindProblemsDeps): Promise<Problem[]> {
  const client = own ?? Context.current().client;
  const nowMs = Date.now();
  const sites = await listSites(client);
  const problems = await failingTasks(client);
  for (const listed of sites) {
    problems.push(...problemOfLink(listed, nowMs), ...(await problemOfConfiguration(listed, readSite)));
  }
  record(problems);
  return problems.toSorted((a, b) => problemKey(a).localeCompare(problemKey(b))).slice(0, MAX_PROBLEMS);
}

/** Sets the gauges for alerts: the time of this check and the counts of problems. */
function record(problems: readonly Problem[]): void {
  const { metricMeter } = Context.current();
  metricMeter
    .createGauge('galley_watchdog_checked_timestamp_seconds', 'int', '', 'When the watchdog last checked all sites.')
    .set(Math.floor(Date.now() / 1000));
  const gauge = metricMeter.createGauge('galley_watchdog_problems', 'int', '', 'Problems found by the last check.');
  for (const kind of PROBLEM_KINDS) gauge.set(problems.filter((each) => each.kind === kind).length, { kind });
}

/** The refresh is late (`linkLateAtMs`). */
export function problemOfLink(listed: ListedSite, nowMs: number): Problem[] {
  const { site, linkExpiresAtMs } = listed;
  const lateAtMs = linkLateAtMs(listed);
  if (linkExpiresAtMs === null || lateAtMs === null || nowMs < lateAtMs) return [];
  const expiry = new Date(linkExpiresAtMs).toISOString();
  const detail =
    nowMs < linkExpiresAtMs ? `its link was not refreshed and expires at ${expiry}` : `its link expired at ${expiry}`;
  return [{ kind: 'link-expires', site, workflowId: WORKFLOW_IDS.exportSite(site), detail }];
}

async function problemOfConfiguration({ site, phase }: ListedSite, readSite: ReadSite): Promise<Problem[]> {
  if (phase !== 'unconfigured' && (await readSite(site)) !== undefined) return [];
  const detail = 'it runs, but galley.yaml of the worker that was asked does not have it';
  return [{ kind: 'unconfigured', site, workflowId: WORKFLOW_IDS.exportSite(site), detail }];
}

/** Servers from 1.30 on mark the workflows whose tasks fail. With older ones, each workflow is described. */
async function failingTasks(client: Client): Promise<Problem[]> {
  try {
    return await markedWorkflows(client);
  } catch (error) {
    if (grpcCode(error) !== INVALID_ARGUMENT) throw error;
    return await describedWorkflows(client);
  }
}

async function markedWorkflows(client: Client): Promise<Problem[]> {
  const query = `${RUNNING} AND TemporalReportedProblems IS NOT NULL`;
  const problems: Problem[] = [];
  for await (const { workflowId } of client.workflow.list({ query, pageSize: PAGE_SIZE })) {
    problems.push(failing(workflowId, 'its workflow tasks fail'));
  }
  return problems;
}

async function describedWorkflows(client: Client): Promise<Problem[]> {
  const limit = pLimit(CALLS_AT_A_TIME);
  const described: Promise<Problem[]>[] = [];
  for await (const { workflowId } of client.workflow.list({ query: RUNNING, pageSize: PAGE_SIZE })) {
    described.push(limit(() => describe(client, workflowId)));
  }
  return (await Promise.all(described)).flat();
}

async function describe(client: Client, workflowId: string): Promise<Problem[]> {
  Context.current().heartbeat();
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  const attempt = raw.pendingWorkflowTask?.attempt ?? 0;
  return attempt < FAILING_FROM_ATTEMPT ? [] : [failing(workflowId, `its workflow task fails, attempt ${attempt}`)];
}

function failing(workflowId: string, what: string): Problem {
  // export:SITE, agent-rule:SITE:RULE, agent:SITE:RULE:DELIVERY
  const [, site = workflowId] = workflowId.split(':');
  const detail = `${what}: Temporal's UI shows why at ${workflowId}`;
  return { kind: 'failing-tasks', site, workflowId, detail };
}
