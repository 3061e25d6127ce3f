import { isUtf8 } from 'node:buffer';
import type { WebhookSources } from '../../contract/webhook-sources.ts';
import { field, firstInstant, firstTextOf, readLink, readText } from './json-fields.ts';
import { published } from './published.ts';
import { anyEqualInConstantTime, hmacOf, outsideWindow, readTimestampMs, timeWindow } from './signature.ts';
import { type Delivery, type Reading, rejected, type WebhookSource } from './source.ts';

const SIGNATURE = /^sign=([A-Za-z0-9+/=]+),\s*env=([^,]*),\s*t=(\d+)$/;

/**
 * Hygraph (https://hygraph.com/docs/api-reference/basics/webhooks): a JSON object of the body, the environment and the
 * time under HMAC-SHA256, base64. Publishing, unpublishing and deleting publish; what is saved as a draft does not.
 */
export function hygraphSource(settings: NonNullable<WebhookSources['hygraph']>): WebhookSource {
  const window = timeWindow(settings.window);
  return {
    verify({ header, body }, secrets, now) {
      const given = header('gcms-signature');
      if (!given) return rejected('missing-header');
      const [, signature, environment, timestamp] = SIGNATURE.exec(given) ?? [];
      const signedAtMs = readTimestampMs(timestamp ?? '', 'ms');
      if (signature === undefined || environment === undefined || signedAtMs === undefined) {
        return rejected('malformed-header');
      }
      // The body is signed as a text, and a byte that isn't UTF-8 would be replaced before it is checked.
      if (!isUtf8(body)) return rejected('bad-signature');
      const texts = signedTexts(body.toString('utf8'), environment, signedAtMs);
      const expected = secrets.flatMap((secret) => texts.map((text) => hmacOf('sha256', secret, [text], 'base64')));
      if (!anyEqualInConstantTime(expected, signature)) return rejected('bad-signature');
      const outside = outsideWindow(signedAtMs, now, window);
      return outside === undefined ? { ok: true, vendorId: null } : rejected(outside);
    },
    read: (_request, body, delivery) => readOperation(body, delivery),
  };
}

/**
 * What may have been signed. Hygraph escapes `&`, `<` and `>` before it signs. Where they come escaped over the wire
 * both texts are the same; where they don't, Hygraph's own verifier reckons with the first and its service with the
 * second. Two bodies with one text are the same JSON, so taking both lets nothing in.
 */
function signedTexts(body: string, environment: string, timestampMs: number): [string, string] {
  const text = JSON.stringify({ Body: body, EnvironmentName: environment, TimeStamp: timestampMs });
  const escaped = text.replaceAll('&', '\\\\u0026').replaceAll('<', '\\\\u003c').replaceAll('>', '\\\\u003e');
  return [text, escaped];
}

function readOperation(body: unknown, delivery: Delivery): Reading {
  const topic = readText(field(body, 'operation')) ?? '';
  const data = field(body, 'data');
  if ((topic === 'create' || topic === 'update') && readText(field(data, 'stage')) === 'DRAFT') {
    return { kind: 'filtered', topic, why: 'a draft was saved' };
  }
  const action = topic === 'unpublish' || topic === 'delete' ? 'unpublish' : 'publish';
  const places = [data, ...listOf(field(data, 'localizations'))];
  const inAnyLanguage = (key: string) => places.map((place) => field(place, key));
  const paths = ['path', 'slug'].flatMap(inAnyLanguage).flatMap((value) => readText(value) ?? []);
  const people = [action === 'publish' ? field(data, 'publishedBy') : undefined, field(data, 'updatedBy')];
  return published(
    {
      source: 'hygraph',
      topic,
      action,
      id: readText(field(data, 'id')),
      title: firstTextOf(['title', 'name', 'slug', 'fileName'].flatMap(inAnyLanguage)),
      url: readLink(field(data, 'url')),
      author: firstTextOf(people.flatMap((person) => [field(person, 'name'), field(person, 'id')])),
      at: firstInstant(action === 'publish' ? field(data, 'publishedAt') : undefined, field(data, 'updatedAt')),
      contentType: readText(field(data, '__typename')),
      paths,
    },
    delivery,
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
