import { isUtf8 } from 'node:buffer';
import { Webhooks } from '@octokit/webhooks';
import { z } from 'zod';
import type { WebhookSources } from '../../contract/galley-config.ts';
import { HttpError } from '../../contract/http-error.ts';
import { readInstant, readText } from './json-fields.ts';
import { type Delivery, type Reading, rejected, type WebhookSource } from './source.ts';

const HEADERS = { signature: 'x-hub-signature-256', event: 'x-github-event', delivery: 'x-github-delivery' } as const;

/** Whatever it is, it is read as text where it is one: only `ref` decides what happens. */
const anything = z.unknown().optional();

/** What a push is read for; Gitea's push has `compare_url` and the pusher's `login`. */
const push = z.object({
  ref: z.string(),
  after: anything,
  deleted: anything,
  compare: anything,
  compare_url: anything,
  head_commit: z
    .object({ id: anything, message: anything, url: anything, timestamp: anything })
    .nullish()
    .catch(undefined),
  pusher: z.object({ name: anything, login: anything }).nullish().catch(undefined),
});

/**
 * GitHub and Gitea (https://docs.github.com/webhooks): the body under HMAC-SHA256, hex. No time is signed, so a resend
 * is known only by its delivery id. A push to the configured branch publishes; other events are listed.
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
      return topic === 'push' ? readPush(body, branch, delivery) : { kind: 'filtered', topic };
    },
  };
}

function readPush(body: unknown, branch: string, delivery: Delivery): Reading {
  const parsed = push.safeParse(body);
  if (!parsed.success) throw new HttpError(400, 'a push needs the field ref: expected a text such as refs/heads/main');
  const { ref, after, deleted, head_commit: commit, pusher, compare, compare_url: compareUrl } = parsed.data;
  if (ref !== `refs/heads/${branch}` || deleted === true) return { kind: 'filtered', topic: 'push' };
  const id = readText(after) ?? readText(commit?.id) ?? delivery.id;
  return {
    kind: 'publish',
    event: {
      source: 'github',
      topic: 'push',
      action: 'publish',
      id,
      title: readText(readText(commit?.message)?.split('\n')[0]) ?? id,
      url: readText(commit?.url) ?? readText(compare) ?? readText(compareUrl) ?? '',
      author: readText(pusher?.name) ?? readText(pusher?.login) ?? '',
      at: readInstant(commit?.timestamp) ?? delivery.receivedAt.toISOString(),
    },
  };
}
