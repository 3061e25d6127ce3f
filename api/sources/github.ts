import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { Webhooks } from '@octokit/webhooks';
import { z } from 'zod';
import { commonSettings } from '../../contract/webhook-settings.ts';
import { hmacOf } from '../webhooks/signature.ts';
import { defineSource, rejected } from '../webhooks/source.ts';
import { parsePullRequestEvent } from './github/pull-request-event.ts';
import { parsePush } from './github/push.ts';

const HEADERS = { signature: 'x-hub-signature-256', event: 'x-github-event', delivery: 'x-github-delivery' } as const;

/**
 * GitHub and Gitea (https://docs.github.com/webhooks): the body under HMAC-SHA256, hex. No time is signed, so only the
 * delivery's id identifies a resend. A push to the configured branch publishes, and pull request events reach the change
 * that waits for them.
 */
export const source = defineSource({
  settings: z.strictObject({ ...commonSettings, branch: z.string().min(1).default('main') }),

  // Nothing is repeated by itself, but people can redeliver for three days.
  retryPeriodMs: 72 * 3_600_000,

  async verify({ header, body }, { secrets }) {
    const [signature, event, delivery] = [HEADERS.signature, HEADERS.event, HEADERS.delivery].map(header);
    if (!signature || !event || !delivery) return rejected('missing-header');
    if (!/^sha256=[0-9a-f]{64}$/.test(signature)) return rejected('malformed-header');
    // The vendor's verifier takes a text. Decoding would replace bytes that aren't UTF-8 before they are verified.
    if (!isUtf8(body)) return rejected('bad-signature');
    const text = body.toString('utf8');
    if (text === '') return rejected('bad-signature');
    const matches = await Promise.all(secrets.map((secret) => new Webhooks({ secret }).verify(text, signature)));
    return matches.includes(true) ? { ok: true, vendorId: delivery } : rejected('bad-signature');
  },

  parse(delivery, { branch }) {
    const topic = delivery.header(HEADERS.event) ?? '';
    if (topic === 'push') return parsePush(delivery, branch);
    return parsePullRequestEvent(topic, delivery) ?? { kind: 'filtered', topic, why: 'the event publishes nothing' };
  },

  sample({ title, slug, author, at, uuid }, { branch }) {
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
  },

  sign: ({ id, body, json, secret }) => ({
    headers: {
      [HEADERS.event]: eventOf(json),
      [HEADERS.delivery]: id,
      [HEADERS.signature]: `sha256=${hmacOf('sha256', secret, [body], 'hex')}`,
    },
  }),
});

/** A body doesn't name its event, but each kind has a key of its own. */
function eventOf(json: unknown): string {
  if (typeof json !== 'object' || json === null || !('pull_request' in json)) return 'push';
  return 'review' in json ? 'pull_request_review' : 'pull_request';
}
