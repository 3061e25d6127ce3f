import { randomUUID } from 'node:crypto';
import type { Transaction } from '../store/database.ts';
import { insertDelivery, type NewDelivery } from '../store/forge-deliveries.ts';
import { getProject } from '../store/projects.ts';
import { listRequestedReviewers } from '../store/pull-request-reviewers.ts';
import type { ReviewRow } from '../store/pull-request-reviews.ts';
import type { PullRequestRow } from '../store/pull-requests.ts';
import type { Commit } from './commits.ts';
import { type ForgeContext, pageOf } from './forge-context.ts';
import { pullRequestShape, repositoryShape, reviewShape, userShape } from './github-shapes.ts';

/**
 * Webhooks as GitHub sends them (https://docs.github.com/webhooks/webhook-events-and-payloads). They are put into the
 * outbox in the transaction of the change, so exactly the committed changes are sent. Does nothing if the project has
 * no webhook URL.
 */

type PullRequestAction =
  | { action: 'opened' | 'closed'; sender: string }
  | { action: 'synchronize'; sender: string; before: string; after: string }
  | { action: 'edited'; sender: string; changes: { [Field in 'title' | 'body']?: { from: string } } };

type PageContext = Pick<ForgeContext, 'publicUrl'>;

export async function enqueuePullRequestEvent(
  tx: Transaction,
  context: PageContext,
  row: PullRequestRow,
  { sender, ...action }: PullRequestAction,
): Promise<void> {
  await send(tx, row, 'pull_request', async () => ({
    ...action,
    number: row.number,
    ...(await subject(tx, context, row)),
    sender: userShape(sender),
  }));
}

export async function enqueueReviewEvent(
  tx: Transaction,
  context: PageContext,
  { row, review }: { row: PullRequestRow; review: ReviewRow },
): Promise<void> {
  const shape = reviewShape(review, pageOf(context, row));
  await send(tx, row, 'pull_request_review', async () => ({
    action: 'submitted',
    review: { ...shape, state: shape.state.toLowerCase() },
    ...(await subject(tx, context, row)),
    sender: userShape(review.reviewer),
  }));
}

export type Push = { sender: string; before: string; after: string; head: Commit; commits: readonly Commit[] };

/** A merge moved the base branch. */
export async function enqueuePushEvent(
  tx: Transaction,
  context: PageContext,
  row: PullRequestRow,
  push: Push,
): Promise<void> {
  const url = pageOf(context, row);
  const shape = (commit: Commit) => ({
    id: commit.sha,
    distinct: true,
    message: bounded(commit.message),
    timestamp: commit.at,
    url,
    author: commit.author,
    committer: commit.author,
  });
  await send(tx, row, 'push', async () => ({
    ref: `refs/heads/${row.baseBranch}`,
    before: push.before,
    after: push.after,
    created: false,
    deleted: false,
    forced: false,
    base_ref: null,
    compare: url,
    commits: push.commits.map(shape),
    head_commit: shape(push.head),
    repository: repositoryShape(row.repository),
    pusher: { name: push.sender },
    sender: userShape(push.sender),
  }));
}

async function subject(tx: Transaction, context: PageContext, row: PullRequestRow) {
  const asked = await listRequestedReviewers(tx, row.id);
  return {
    pull_request: pullRequestShape(row, { url: pageOf(context, row), asked }),
    repository: repositoryShape(row.repository),
  };
}

async function send(
  tx: Transaction,
  { projectId }: PullRequestRow,
  event: NewDelivery['event'],
  body: () => Promise<object>,
): Promise<void> {
  const project = projectId === null ? undefined : await getProject(tx, projectId);
  if (project === undefined || project.settings.webhookUrl === null) return;
  await insertDelivery(tx, {
    id: randomUUID(),
    projectId: project.id,
    event,
    bodyJson: JSON.stringify(await body()),
  });
}

const MESSAGE_CHARACTERS = 4_000;

/** Receivers limit the body, and readers need a message's first lines and its trailers. */
function bounded(message: string): string {
  if (message.length <= MESSAGE_CHARACTERS) return message;
  return `${message.slice(0, MESSAGE_CHARACTERS / 2)}\n…\n${message.slice(-MESSAGE_CHARACTERS / 2)}`;
}
