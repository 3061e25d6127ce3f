import { joinAgentLogs } from '../../api/agent/read-agent-log.ts';
import { findRepository } from '../../api/forge/load-pull-request.ts';
import { firstLine } from '../../first-line.ts';
import { type Changes, readChanges } from '../../forge/changes/read-changes.ts';
import { PULL_REQUEST_ID } from '../../forge/forge-context.ts';
import { type AgentJobQuery, type AgentJobRow, listAgentJobs } from '../../store/agent-jobs.ts';
import { listAgentRunLogs, listFirstPrompts, listRunPrompts } from '../../store/agent-runs.ts';
import { getProject } from '../../store/projects.ts';
import { listRequestedReviewers, type RequestedReviewer } from '../../store/pull-request-reviewers.ts';
import { listReviews, type ReviewRow } from '../../store/pull-request-reviews.ts';
import { getPullRequest, listPullRequestStates, type PullRequestRow } from '../../store/pull-requests.ts';
import type { SignedMember } from '../access.ts';
import type { DashboardContext } from '../dashboard-context.ts';

type LogEnd = { text: string; isCut: boolean };

export type PullRequestFacts = {
  row: PullRequestRow;
  changes: Changes | undefined;
  asked: readonly RequestedReviewer[];
  reviews: readonly ReviewRow[];
};

/** A job with the first line of its prompt. The state is undefined without a pull request at the embedded forge. */
export type TitledJob = AgentJobRow & { title: string; pullRequestState: PullRequestRow['state'] | undefined };

/** An organization's jobs, newest first. */
export async function listTitledJobs(
  { db }: DashboardContext,
  filter: AgentJobQuery & { organizationId: string },
): Promise<TitledJob[]> {
  const jobs = await listAgentJobs(db, filter);
  const [prompts, states] = await Promise.all([
    listFirstPrompts(
      db,
      jobs.map(({ id }) => id),
    ),
    listPullRequestStates(db, jobs.map(pullRequestOf)),
  ]);
  return jobs.map((job) => ({
    ...job,
    title: firstLine(prompts.get(job.id) ?? '', SHOWN_TITLE) || job.id,
    pullRequestState: states.get(pullRequestOf(job)),
  }));
}

/** The id that a pull request's link ends with; empty without one. */
const pullRequestOf = ({ prLink }: Pick<AgentJobRow, 'prLink'>) => prLink?.split('/pulls/').at(-1) ?? '';

/** Everything that an agent job's page shows. */
export type AgentFacts = {
  job: AgentJobRow;
  prompts: readonly string[];
  log: LogEnd;
  /** Null if it isn't at the embedded forge, or there is none. */
  pullRequest: PullRequestFacts | null;
  /** The site of the same `galley up` and its change with the pull request, for those who may open its page. */
  there: { site: string; change: string | undefined } | undefined;
  now: Date;
};

const REVIEWS = 50;
const SHOWN_TITLE = 100;
/** Workers store a growing log this often. */
const READ_LOG_EVERY_MS = 3_000;
/** The page shows the log's end; the API has the whole. */
const SHOWN_LOG_BYTES = 40 * 1024;

/** Reads what a job's page shows. Repeated calls, such as for live updates, read only again what may have changed. */
export function createFactsReader(
  context: DashboardContext,
  { sites }: SignedMember,
): (job: AgentJobRow) => Promise<AgentFacts> {
  const { db } = context;
  const prompts = keepLast((job: AgentJobRow) => {
    const runs = Array.from({ length: job.run }, (_each, index) => index + 1);
    return listRunPrompts(db, { jobId: job.id, runs });
  });
  const log = keepLast((job: AgentJobRow) => readLogEnd(context, job.id));
  const changes = keepLast(async (row: PullRequestRow) => {
    const repository = await findRepository(row);
    return repository && (await readChanges(repository, row));
  });

  const there = keepLast(async ({ projectId, prLink }: AgentJobRow) => {
    const site = sites?.siteOf((await getProject(db, projectId))?.domain ?? '');
    if (sites === undefined || site === undefined) return undefined;
    return { site, change: prLink === null ? undefined : await sites.changeOf(site, prLink) };
  });

  async function readPullRequest({ prLink }: AgentJobRow): Promise<PullRequestFacts | null> {
    const id = pullRequestOf({ prLink });
    const row = PULL_REQUEST_ID.test(id) ? await getPullRequest(db, id) : undefined;
    if (row === undefined) return null;
    return {
      row,
      changes: await changes(`${row.id} ${row.baseSha} ${row.headSha}`, row),
      asked: await listRequestedReviewers(db, id),
      reviews: await listReviews(db, id, REVIEWS),
    };
  }

  return async (job) => {
    const now = context.now();
    const logTurn = Math.floor(now.getTime() / READ_LOG_EVERY_MS);
    return {
      job,
      prompts: await prompts(`${job.id} ${job.run}`, job),
      log: await log(`${job.id} ${job.run} ${job.status} ${logTurn}`, job),
      pullRequest: await readPullRequest(job),
      there: await there(`${job.id} ${job.prLink}`, job),
      now,
    };
  };
}

/** Calls `read` again only if the key differs from the last call's. A failure isn't kept. */
function keepLast<Input, Output>(
  read: (input: Input) => Promise<Output>,
): (key: string, input: Input) => Promise<Output> {
  let last: { key: string; output: Output } | undefined;
  return async (key, input) => {
    if (last?.key !== key) last = { key, output: await read(input) };
    return last.output;
  };
}

/** The end of what the agent printed in all runs. */
async function readLogEnd({ db, objects }: DashboardContext, jobId: string): Promise<LogEnd> {
  let kept = Buffer.alloc(0);
  let isCut = false;
  for await (const chunk of joinAgentLogs(objects, await listAgentRunLogs(db, jobId))) {
    kept = Buffer.concat([kept, chunk]);
    if (kept.length > 2 * SHOWN_LOG_BYTES) kept = Buffer.from(kept.subarray(kept.length - SHOWN_LOG_BYTES));
    isCut ||= kept.length > SHOWN_LOG_BYTES;
  }
  const end = isCut ? kept.subarray(Math.max(0, kept.length - SHOWN_LOG_BYTES)) : kept;
  return { text: end.toString('utf8'), isCut };
}
