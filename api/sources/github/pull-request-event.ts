import { z } from 'zod';
import type { ReviewVerdict } from '../../../contract/pull-request-event.ts';
import { readInstant, readText } from '../json-fields.ts';
import type { Delivery, Reading } from '../source.ts';

/** GitHub says who is a `Bot`; Gitea says nothing. */
const person = z.object({ login: z.string(), type: z.unknown().optional() }).nullish().catch(undefined);

const pullRequest = z.object({
  html_url: z.url({ protocol: /^https?$/ }),
  state: z.enum(['open', 'closed']),
  merged: z.boolean().nullish().catch(undefined),
  merge_commit_sha: z.string().nullish().catch(undefined),
  updated_at: z.unknown().optional(),
  user: person,
});

const changed = z.object({ action: z.string(), pull_request: pullRequest });

/** GitHub tells the review's state, Gitea its type, and its reviewer as the sender. */
const submitted = z.object({
  action: z.string(),
  pull_request: pullRequest,
  review: z.object({
    state: z.string().nullish(),
    type: z.string().nullish(),
    user: person,
    submitted_at: z.unknown().optional(),
  }),
  sender: person,
});

/** Gitea names its three kinds of review in the event itself. */
const REVIEW_TOPICS = [
  'pull_request_review',
  'pull_request_approved',
  'pull_request_rejected',
  'pull_request_comment',
  'pull_request_review_approved',
  'pull_request_review_rejected',
  'pull_request_review_comment',
];

/** After any other action a change goes on as it was. */
const TELLING_ACTIONS = ['closed', 'reopened', 'merged'];

/** News of a pull request. Undefined for every other event, and where it isn't of the shape that forges send. */
export function readPullRequestEvent(topic: string, body: unknown, delivery: Delivery): Reading | undefined {
  if (topic === 'pull_request') return readChange(body, delivery) ?? readReview(body, delivery);
  return REVIEW_TOPICS.includes(topic) ? readReview(body, delivery) : undefined;
}

function readChange(body: unknown, delivery: Delivery): Reading | undefined {
  const parsed = changed.safeParse(body);
  if (!parsed.success || !TELLING_ACTIONS.includes(parsed.data.action)) return undefined;
  const { html_url: url, state, merged, merge_commit_sha: sha, updated_at } = parsed.data.pull_request;
  const isMerged = state === 'closed' && merged === true;
  return {
    kind: 'pull-request',
    change: {
      url,
      state: isMerged ? 'merged' : state,
      // While it is open GitHub tells a trial merge's commit here.
      mergeCommitSha: isMerged ? (readText(sha) ?? null) : null,
      at: readInstant(updated_at) ?? delivery.receivedAt.toISOString(),
    },
  };
}

function readReview(body: unknown, delivery: Delivery): Reading | undefined {
  const parsed = submitted.safeParse(body);
  if (!parsed.success || !['submitted', 'reviewed'].includes(parsed.data.action)) return undefined;
  const { pull_request: pull, review, sender } = parsed.data;
  const author = review.user ?? sender;
  const reviewer = readText(author?.login);
  const verdict = verdictOf(review.state ?? review.type ?? '');
  // An author who comments on the own pull request has not reviewed it.
  if (reviewer === undefined || verdict === undefined || reviewer === pull.user?.login) return undefined;
  const at = readInstant(review.submitted_at) ?? delivery.receivedAt.toISOString();
  const bot = author?.type === 'Bot' && { bot: true };
  return { kind: 'review', review: { url: pull.html_url, reviewer, verdict, at, ...bot } };
}

function verdictOf(text: string): ReviewVerdict | undefined {
  if (/approved$/i.test(text)) return 'approved';
  if (/(?:changes_requested|rejected)$/i.test(text)) return 'changes-requested';
  return /comment(?:ed)?$/i.test(text) ? 'commented' : undefined;
}
