import { createHash, createHmac } from 'node:crypto';
import type { WebhookSources } from '../../../contract/webhook-sources.ts';
import type { Sender, TestEvent } from '../sender.ts';

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries; Gitea sends the same. */
export function githubSender({ branch }: NonNullable<WebhookSources['github']>): Sender {
  return {
    sample: (event) => push(event, branch),
    headers: ({ id, body, json, secret }) => ({
      'x-github-event': eventOf(json),
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    }),
  };
}

/** The body doesn't name its event, but each kind has a part of its own. */
function eventOf(json: unknown): string {
  if (typeof json !== 'object' || json === null || !('pull_request' in json)) return 'push';
  return 'review' in json ? 'pull_request_review' : 'pull_request';
}

function push({ title, slug, author, at, uuid }: TestEvent, branch: string): Record<string, unknown> {
  const [before, after] = [`before ${uuid}`, uuid].map((text) => createHash('sha1').update(text).digest('hex'));
  const repository = 'https://github.com/example/handbook';
  const person = { name: author, email: 'galley@example.com' };
  const commit = {
    id: after,
    message: title,
    timestamp: at.toISOString(),
    url: `${repository}/commit/${after}`,
    author: person,
    committer: person,
    added: [`docs/${slug}.md`],
    removed: [],
    modified: [],
  };
  return {
    ref: `refs/heads/${branch}`,
    before,
    after,
    created: false,
    deleted: false,
    forced: false,
    compare: `${repository}/compare/${before}...${after}`,
    repository: { name: 'handbook', full_name: 'example/handbook', html_url: repository },
    pusher: person,
    sender: { login: 'galley-webhook-send', type: 'User' },
    commits: [commit],
    head_commit: commit,
  };
}
