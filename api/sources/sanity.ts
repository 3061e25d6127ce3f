import type { WebhookSources } from '../../contract/webhook-sources.ts';
import { field, firstInstant, firstText, firstTextOf, readLink, readText } from './json-fields.ts';
import { published } from './published.ts';
import { anyEqualInConstantTime, hmacOf, outsideWindow, readTimestampMs, timeWindow } from './signature.ts';
import { type Delivery, type Reading, rejected, type WebhookRequest, type WebhookSource } from './source.ts';

const HEADERS = {
  signature: 'sanity-webhook-signature',
  operation: 'sanity-operation',
  documentId: 'sanity-document-id',
  transactionTime: 'sanity-transaction-time',
  idempotencyKey: 'idempotency-key',
} as const;

const SIGNATURE = /^t=(\d+),\s*v1=([\w-]+)$/;

/** What a published document's id never begins with. */
const UNPUBLISHED_ID = /^(drafts|versions)\./;

/**
 * Sanity (https://www.sanity.io/docs/content-lake/webhooks): `{t}.{body}` under HMAC-SHA256, base64url without padding.
 * Creating, changing and deleting a published document publishes; unpublishing one deletes it. Nothing but the body and
 * the time is signed: what the other headers say is taken for the event's words, never for more.
 */
export function sanitySource(settings: NonNullable<WebhookSources['sanity']>): WebhookSource {
  const window = timeWindow(settings.window);
  return {
    verify({ header, body }, secrets, now) {
      const given = header(HEADERS.signature);
      if (!given) return rejected('missing-header');
      const [, timestamp, signature] = SIGNATURE.exec(given) ?? [];
      const signedAtMs = readTimestampMs(timestamp ?? '', 'ms');
      if (timestamp === undefined || signature === undefined || signedAtMs === undefined) {
        return rejected('malformed-header');
      }
      const expected = secrets.map((secret) => hmacOf('sha256', secret, [`${timestamp}.`, body], 'base64url'));
      if (!anyEqualInConstantTime(expected, signature)) return rejected('bad-signature');
      const outside = outsideWindow(signedAtMs, now, window);
      return outside === undefined ? { ok: true, vendorId: header(HEADERS.idempotencyKey) || null } : rejected(outside);
    },
    read: readDocument,
  };
}

function readDocument({ header }: WebhookRequest, body: unknown, delivery: Delivery): Reading {
  const topic = firstText(header(HEADERS.operation)) ?? '';
  // A projection decides what the body holds, so nothing in it is certain.
  const ids = [field(body, '_id'), header(HEADERS.documentId)].map(readText);
  if (ids.some((id) => id !== undefined && UNPUBLISHED_ID.test(id))) {
    return { kind: 'filtered', topic, why: 'the document is a draft or the version of a release' };
  }
  const slug = firstText(field(body, 'slug', 'current'), field(body, 'slug'));
  const path = firstText(field(body, 'path'), field(body, 'pathname', 'current'), field(body, 'pathname'), slug);
  return published(
    {
      source: 'sanity',
      topic,
      action: topic === 'delete' ? 'unpublish' : 'publish',
      id: firstTextOf(ids),
      title: firstText(inFirstLanguage(field(body, 'title')), inFirstLanguage(field(body, 'name')), slug),
      url: readLink(field(body, 'url')),
      author: readText(field(body, 'author')),
      at: firstInstant(header(HEADERS.transactionTime), field(body, '_updatedAt')),
      contentType: readText(field(body, '_type')),
      paths: path === undefined ? undefined : [path],
    },
    delivery,
  );
}

/** A text, or the first of a document's translations: `{_type: 'localeString', en: …}` or `[{_key: 'en', value: …}]`. */
function inFirstLanguage(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return firstTextOf(value.map((each) => field(each, 'value')));
  return firstTextOf(Object.entries(value).map(([key, text]) => (key.startsWith('_') ? undefined : text)));
}
