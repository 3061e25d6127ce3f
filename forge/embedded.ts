import { z } from 'zod';
import type { ChangeRequest, PullRequestState, Review } from '../contract/pull-request-event.ts';
import { createEmbeddedForgeClient, type EmbeddedForgeOptions } from './embedded-client.ts';
import type { ForgeReader, PullRequest } from './forge.ts';
import { ForgeError } from './forge-error.ts';

const login = z.object({ login: z.string() });

const pullRequestShape = z.object({
  number: z.int(),
  state: z.enum(['open', 'closed']),
  merged: z.boolean(),
  merge_commit_sha: z.string().nullable(),
  title: z.string(),
  user: login,
  head: z.object({ ref: z.string(), sha: z.string() }),
  base: z.object({ ref: z.string() }),
});

const reviewShapes = z.array(
  z.object({
    id: z.int(),
    body: z.string(),
    user: login,
    state: z.enum(['APPROVED', 'CHANGES_REQUESTED', 'COMMENTED']),
    submitted_at: z.string(),
  }),
);

const fileShapes = z.array(z.object({ filename: z.string(), previous_filename: z.string().optional() }));

const VERDICTS = { APPROVED: 'approved', CHANGES_REQUESTED: 'changes-requested', COMMENTED: 'commented' } as const;

/**
 * The orchestrator's side of the platform's embedded forge: reads its pull request pages as JSON. Reading needs only
 * the link; review requests and reviewers' links need the operator token. It has no accounts, so no login has a mail
 * address.
 */
export function createEmbeddedForgeReader(options: EmbeddedForgeOptions): ForgeReader {
  const call = createEmbeddedForgeClient(options);
  return {
    async readPullRequest(url) {
      const pullRequest = read(pullRequestShape, await call(url, ''));
      const reviews = read(reviewShapes, await call(url, '/reviews'));
      return {
        ...toPullRequest(url, pullRequest),
        reviews: lastWords(reviews),
        changeRequests: changeRequests(reviews),
      };
    },
    async readReview(url, id) {
      const found = read(reviewShapes, await call(url, '/reviews')).find((each) => String(each.id) === id);
      if (found !== undefined) return { body: found.body, comments: [] };
      throw new ForgeError(`The pull request has no review ${id}`, { status: null, retryable: false });
    },
    async listChangedFiles(url) {
      const files = read(fileShapes, await call(url, '/files'));
      return [...new Set(files.flatMap((file) => [file.filename, file.previous_filename ?? file.filename]))];
    },
    async readCodeOwners(url) {
      return read(z.object({ content: z.string().nullable() }), await call(url, '/codeowners')).content;
    },
    async requestReviews(url, { logins, teams }) {
      const requested: string[] = [];
      const refused: { name: string; reason: string }[] = [];
      const requests = [
        ...logins.map((name) => ({ name, body: { reviewers: [name] } })),
        ...teams.map((name) => ({ name, body: { team_reviewers: [name] } })),
      ];
      // One by one, so that a rejected one doesn't stop the others.
      for (const { name, body } of requests) {
        try {
          await call(url, '/requested_reviewers', body);
          requested.push(name);
        } catch (error) {
          if (!(error instanceof ForgeError) || (error.status !== 400 && error.status !== 409)) throw error;
          refused.push({ name, reason: error.message });
        }
      }
      return { requested, refused };
    },
    async findLogin() {
      return null;
    },
    async findMail() {
      return null;
    },
    async reviewLink(url, mail) {
      const link = read(
        z.object({ url: z.url({ protocol: /^https?$/ }) }),
        await call(url, '/review_links', { reviewer: mail }),
      );
      return link.url;
    },
  };
}

function read<Schema extends z.ZodType>(schema: Schema, response: unknown): z.output<Schema> {
  const parsed = schema.safeParse(response);
  if (parsed.success) return parsed.data;
  const field = parsed.error.issues[0]?.path.join('.') || 'the whole';
  throw new ForgeError(`The embedded forge's response has an unexpected format (${field})`, {
    status: null,
    retryable: false,
  });
}

function toPullRequest(url: string, shape: z.output<typeof pullRequestShape>): PullRequest {
  const state: PullRequestState = shape.merged ? 'merged' : shape.state;
  return {
    url,
    number: shape.number,
    state,
    title: shape.title,
    author: shape.user.login,
    headBranch: shape.head.ref,
    headSha: shape.head.sha,
    baseBranch: shape.base.ref,
    mergeCommitSha: state === 'merged' ? shape.merge_commit_sha : null,
  };
}

/** Each reviewer's last verdict; a later comment doesn't withdraw it. */
function lastWords(shapes: z.output<typeof reviewShapes>): Review[] {
  const last = new Map<string, Review>();
  for (const { user, state, submitted_at: at } of shapes) {
    const verdict = VERDICTS[state];
    const before = last.get(user.login);
    if (verdict !== 'commented' || before === undefined || before.verdict === 'commented') {
      last.set(user.login, { reviewer: user.login, verdict, at });
    }
  }
  return [...last.values()];
}

function changeRequests(shapes: z.output<typeof reviewShapes>): ChangeRequest[] {
  return shapes
    .filter(({ state }) => state === 'CHANGES_REQUESTED')
    .map(({ id, user, submitted_at: at }) => ({ id: String(id), reviewer: user.login, at }));
}
