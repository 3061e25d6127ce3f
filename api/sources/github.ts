import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import { commonSettings } from '../../contract/webhook-settings.ts';
import { anyEqualInConstantTime, hmacOf } from '../webhooks/signature.ts';
import { defineSource, type LargeBodies, rejected } from '../webhooks/source.ts';
import { PULL_REQUEST_FIELDS, parsePullRequestEvent } from './github/pull-request-event.ts';
import { PUSH_FIELDS, parsePush } from './github/push.ts';

const HEADERS = { signature: 'x-hub-signature-256', event: 'x-github-event', delivery: 'x-github-delivery' } as const;

const settings = z.strictObject({ ...commonSettings, branch: z.string().min(1).default('main') });

const startVerifying: LargeBodies<z.infer<typeof settings>>['startVerifying'] = ({ header }, { secrets }) => {
  const [signature, event, delivery] = [HEADERS.signature, HEADERS.event, HEADERS.delivery].map(header);
  if (!signature || !event || !delivery) return rejected('missing-header');
  const given = /^sha256=([0-9a-f]{64})$/.exec(signature)?.[1];
  if (given === undefined) return rejected('malformed-header');
  const hmacs = secrets.map((secret) => createHmac('sha256', secret));
  return {
    update(chunk) {
      for (const hmac of hmacs) hmac.update(chunk);
    },
    finish() {
      const expected = hmacs.map((hmac) => hmac.digest('hex'));
      return anyEqualInConstantTime(expected, given) ? { ok: true, vendorId: delivery } : rejected('bad-signature');
    },
  };
};

/**
 * GitHub and Gitea (https://docs.github.com/webhooks): the body under HMAC-SHA256, hex. No time is signed, so only the
 * delivery's id identifies a resend. A push to the configured branch publishes, and pull request events reach the change
 * that waits for them.
 */
export const source = defineSource({
  settings,

  // Nothing is repeated by itself, but people can redeliver for three days.
  retryPeriodMs: 72 * 3_600_000,

  large: {
    maxBytes: 25 * 1024 * 1024,
    fields: { ...PUSH_FIELDS, ...PULL_REQUEST_FIELDS },
    startVerifying,
  },

  verify({ body, ...request }, context) {
    const verifier = startVerifying(request, context);
    if ('ok' in verifier) return verifier;
    verifier.update(body);
    return verifier.finish();
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
