import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { source } from '../../api/sources/github.ts';
import { expectConformance, type Outcome, readSuite } from './conformance.ts';

const SERVERS = ['api.github.com', 'ghes-31', 'ghes-32', 'ghes-33', 'ghes-34', 'ghes-35'];
const SECRET = 'a secret of the webhook';
const NOW = new Date('2026-11-21T08:00:00Z');

const person = z.looseObject({ login: z.string() }).nullish();
const examples = z.array(
  z.object({
    name: z.string(),
    examples: z.array(
      z.looseObject({
        action: z.unknown().optional(),
        ref: z.unknown().optional(),
        deleted: z.unknown().optional(),
        pull_request: z
          .looseObject({ html_url: z.string().optional(), merged: z.unknown().optional(), user: person })
          .optional(),
        review: z.looseObject({ user: person }).optional(),
      }),
    ),
  }),
);
type Example = z.infer<typeof examples>[number]['examples'][number];

/** What GitHub's documentation says that an event means, written without the product's code. */
function meaningOf(event: string, { action, ref, deleted, pull_request: pull, review }: Example): string {
  if (event === 'push') return deleted === true || !String(ref).startsWith('refs/heads/') ? 'filtered' : 'publish';
  if (event === 'pull_request' && (action === 'closed' || action === 'reopened')) {
    if (action === 'reopened') return `open ${pull?.html_url}`;
    return `${pull?.merged === true ? 'merged' : 'closed'} ${pull?.html_url}`;
  }
  const isReview = event === 'pull_request_review' && action === 'submitted';
  return isReview && review?.user?.login !== pull?.user?.login ? `reviewed ${pull?.html_url}` : 'filtered';
}

async function isRead(event: string, example: Example): Promise<boolean> {
  const body = Buffer.from(JSON.stringify(example));
  const headers: Record<string, string> = {
    'x-github-event': event,
    'x-github-delivery': 'delivery-1',
    'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
  };
  const header = (name: string) => headers[name.toLowerCase()];
  const branch = String(example.ref).replace('refs/heads/', '') || 'main';
  const settings = source.settings.parse({ secret: SECRET, branch });
  const context = { settings, secrets: [SECRET], now: NOW };
  const request = { method: 'POST', path: '/webhooks/docs/github', header, body };
  if (!(await source.verify(request, context)).ok) return false;
  const altered = { ...request, body: Buffer.concat([body, Buffer.from(' ')]) };
  if ((await source.verify(altered, context)).ok) return false;
  const parsed = source.parse({ body: example, header, id: 'delivery-1', receivedAt: NOW }, settings);
  const found =
    parsed.kind === 'pull-request'
      ? `${parsed.change.state} ${parsed.change.url}`
      : parsed.kind === 'review'
        ? `reviewed ${parsed.review.url}`
        : parsed.kind;
  return found === meaningOf(event, example);
}

test("octokit's examples of deliveries are verified and mean what GitHub says", async () => {
  const outcomes: Outcome[] = [];
  for (const server of SERVERS) {
    const events = examples.parse(
      JSON.parse(readSuite('node_modules/@octokit/webhooks-examples', server, 'index.json')),
    );
    for (const { name: event, examples: all } of events) {
      for (const [index, example] of all.entries()) {
        outcomes.push({ name: `${server} ${event} ${index + 1}`, passed: await isRead(event, example) });
      }
    }
  }
  expectConformance({
    file: 'octokit',
    suite: "octokit's examples of GitHub's webhooks",
    package: '@octokit/webhooks-examples',
    shows:
      'a signed delivery is accepted, an altered one rejected, and it publishes or steers a change as GitHub documents it',
    outcomes,
  });
});
