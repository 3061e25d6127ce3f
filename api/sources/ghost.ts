import type { WebhookSources } from '../../contract/webhook-sources.ts';
import { readGhostEvent } from './ghost/ghost-event.ts';
import { anyEqualInConstantTime, hmacOf, outsideWindow, readTimestampMs, timeWindow } from './signature.ts';
import { rejected, type WebhookSource } from './source.ts';

const SIGNATURE = /^sha256=([0-9a-f]+),\s*t=(\d+)$/;

/** What Ghost sends with `site.changed`, whatever changed: nothing, or by some releases the event's name alone. */
const SITE_CHANGED = /^\{(?:"event":"site\.changed")?\}$/;
const MAX_SITE_CHANGED_BYTES = 32;

/**
 * Ghost (https://docs.ghost.org/webhooks): the body with the time right behind it under HMAC-SHA256, hex. Releases
 * before July 2024 signed the body alone; `unsignedTime` takes their signatures too, and a copied delivery works again
 * then. The event's name is sent nowhere, so it is told from what changed.
 */
export function ghostSource(settings: NonNullable<WebhookSources['ghost']>): WebhookSource {
  const window = timeWindow(settings.window);
  return {
    verify({ header, body }, secrets, now) {
      const given = header('x-ghost-signature');
      if (!given) return rejected('missing-header');
      const [, signature, timestamp] = SIGNATURE.exec(given) ?? [];
      const signedAtMs = readTimestampMs(timestamp ?? '', 'ms');
      if (signature === undefined || timestamp === undefined || signedAtMs === undefined) {
        return rejected('malformed-header');
      }
      const texts = settings.unsignedTime ? [[body, timestamp], [body]] : [[body, timestamp]];
      const expected = secrets.flatMap((secret) => texts.map((parts) => hmacOf('sha256', secret, parts, 'hex')));
      if (!anyEqualInConstantTime(expected, signature)) return rejected('bad-signature');
      const outside = outsideWindow(signedAtMs, now, window);
      if (outside !== undefined) return rejected(outside);
      // By its hash the second change of a site would be a resend of the first. Ghost repeats the time when it resends.
      const saysNothing = body.length <= MAX_SITE_CHANGED_BYTES && SITE_CHANGED.test(body.toString());
      return { ok: true, vendorId: saysNothing ? `site.changed:${timestamp}` : null };
    },
    read: (_request, body, delivery) => readGhostEvent(body, delivery),
  };
}
