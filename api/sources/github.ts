import { isUtf8 } from 'node:buffer';
import { Webhooks } from '@octokit/webhooks';
import type { WebhookSources } from '../../contract/webhook-sources.ts';
import { readPullRequestEvent } from './github/pull-request-event.ts';
import { readPush } from './github/push.ts';
import { rejected, type WebhookSource } from './source.ts';

const HEADERS = { signature: 'x-hub-signature-256', event: 'x-github-event', delivery: 'x-github-delivery' } as const;

/**
 * GitHub and Gitea (https://docs.github.com/webhooks): the body under HMAC-SHA256, hex. No time is signed, so a resend
 * is known only by its delivery id. A push to the configured branch publishes, and news of a pull request reaches the
 * change that waits for it; other events are listed.
 */
export function githubSource({ branch }: NonNullable<WebhookSources['github']>): WebhookSource {
  return {
    async verify({ header, body }, secrets) {
      const [signature, event, delivery] = [HEADERS.signature, HEADERS.event, HEADERS.delivery].map(header);
      if (!signature || !event || !delivery) return rejected('missing-header');
      if (!/^sha256=[0-9a-f]{64}$/.test(signature)) return rejected('malformed-header');
      // The vendor's verifier takes text, and a byte that isn't UTF-8 would be replaced before it is checked.
      if (!isUtf8(body)) return rejected('bad-signature');
      const text = body.toString('utf8');
      if (text === '') return rejected('bad-signature');
      const matches = await Promise.all(secrets.map((secret) => new Webhooks({ secret }).verify(text, signature)));
      return matches.includes(true) ? { ok: true, vendorId: delivery } : rejected('bad-signature');
    },
    read({ header }, body, delivery) {
      const topic = header(HEADERS.event) ?? '';
      if (topic === 'push') return readPush(body, branch, delivery);
      return (
        readPullRequestEvent(topic, body, delivery) ?? { kind: 'filtered', topic, why: 'the event publishes nothing' }
      );
    },
  };
}
