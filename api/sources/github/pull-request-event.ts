import { z } from 'zod';
import type { ReviewVerdict } from '../../../contract/pull-request-event.ts';
import { readInstant, readText } from '../../webhooks/json-fields.ts';
import type { Selection } from '../../webhooks/select-json.ts';
import type { Delivery, ParsedDelivery } from '../../webhooks/source.ts';

/** GitHub has the type `Bot`; Gitea sends no type. */
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

/** GitHub sends the review's state. Gitea sends its type, and the reviewer as the sender. */
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

const PERSON_FIELDS: Selection = { login: true, type: true };

/** The fields of `changed` and `submitted`. */
export const PULL_REQUEST_FIELDS: Record<string, Selection> = {
  action: true,
  pull_request: {
    ...{ html_url: true, state: true, merged: true, merge_commit_sha: true, updated_at: true },
    user: PERSON_FIELDS,
  },
  review: { state: true, type: true, submitted_at: true, user: PERSON_FIELDS },
  sender: PERSON_FIELDS,
};

/** Gitea has an event for each kind of review. */
const REVIEW_TOPICS = [
  'pull_request_review',
  'pull_request_approved',
  'pull_request_rejected',
  'pull_request_comment',
  'pull_request_review_approved',
  'pull_request_review_rejected',
  'pull_request_review_comment',
];

/** Other actions don't affect a change. */
const STATE_ACTIONS = ['closed', 'reopened', 'merged'];

/** An event of a pull request. Undefined for every other event, and if the body lacks what forges send. */
export function parsePullRequestEvent(topic: string, delivery: Delivery): ParsedDelivery | undefined {
  if (topic === 'pull_request') return parseChange(delivery) ?? parseReview(delivery);
  return REVIEW_TOPICS.includes(topic) ? parseReview(delivery) : undefined;
}

function parseChange({ body, receivedAt }: Delivery): ParsedDelivery | undefined {
  const parsed = changed.safeParse(body);
  if (!parsed.success || !STATE_ACTIONS.includes(parsed.data.action)) return undefined;
  const { html_url: url, state, merged, merge_commit_sha: sha, updated_at } = parsed.data.pull_request;
  const isMerged = state === 'closed' && merged === true;
  return {
    kind: 'pull-request',
    change: {
      url,
      state: isMerged ? 'merged' : state,
      // While the pull request is open, GitHub sends the commit of a test merge here.
      mergeCommitSha: isMerged ? (readText(sha) ?? null) : null,
      at: readInstant(updated_at) ?? receivedAt.toISOString(),
    },
  };
}

function parseReview({ body, receivedAt }: Delivery): ParsedDelivery | undefined {
  const parsed = submitted.safeParse(body);
  if (!parsed.success || !['submitted', 'reviewed'].includes(parsed.data.action)) return undefined;
  const { pull_request: pull, review, sender } = parsed.data;
  const author = review.user ?? sender;
  const reviewer = readText(author?.login);
  const verdict = verdictOf(review.state ?? review.type ?? '');
  // Authors can't review their own pull request.
  if (reviewer === undefined || verdict === undefined || reviewer === pull.user?.login) return undefined;
  const at = readInstant(review.submitted_at) ?? receivedAt.toISOString();
  const bot = author?.type === 'Bot' && { bot: true };
  return { kind: 'review', review: { url: pull.html_url, reviewer, verdict, at, ...bot } };
}

function verdictOf(text: string): ReviewVerdict | undefined {
  if (/approved$/i.test(text)) return 'approved';
  if (/(?:changes_requested|rejected)$/i.test(text)) return 'changes-requested';
  return /comment(?:ed)?$/i.test(text) ? 'commented' : undefined;
}
