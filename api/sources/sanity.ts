import { z } from 'zod';
import { field, firstInstant, firstText, firstTextOf, readLink, readText } from '../webhooks/json-fields.ts';
import { acceptWithin, anyEqualInConstantTime, hmacOf, readTimestampMs, timeWindow } from '../webhooks/signature.ts';
import { defineSource, plainSettings, published, rejected } from '../webhooks/source.ts';

const HEADERS = {
  signature: 'sanity-webhook-signature',
  operation: 'sanity-operation',
  documentId: 'sanity-document-id',
  transactionTime: 'sanity-transaction-time',
  idempotencyKey: 'idempotency-key',
} as const;

const SIGNATURE = /^t=(\d+),\s*v1=([\w-]+)$/;

/** The id of a published document never begins so. */
const UNPUBLISHED_ID = /^(drafts|versions)\./;

const identified = z.object({ _id: z.string().regex(/^[\w.-]+$/) });

/**
 * Sanity (https://www.sanity.io/docs/content-lake/webhooks): `{t}.{body}` under HMAC-SHA256, base64url without padding.
 * Creating, changing and deleting a published document publishes; an unpublish deletes it. Only the body and the time are
 * signed, so the other headers may only describe the event.
 */
export const source = defineSource({
  settings: plainSettings,

  verify({ header, body }, { settings, secrets, now }) {
    const given = header(HEADERS.signature);
    if (!given) return rejected('missing-header');
    const [, timestamp, signature] = SIGNATURE.exec(given) ?? [];
    const signedAtMs = readTimestampMs(timestamp ?? '', 'ms');
    if (timestamp === undefined || signature === undefined || signedAtMs === undefined) {
      return rejected('malformed-header');
    }
    const expected = secrets.map((secret) => hmacOf('sha256', secret, [`${timestamp}.`, body], 'base64url'));
    if (!anyEqualInConstantTime(expected, signature)) return rejected('bad-signature');
    return acceptWithin(timeWindow(settings.window), signedAtMs, now, header(HEADERS.idempotencyKey) || null);
  },

  parse(delivery) {
    const { body, header } = delivery;
    const topic = firstText(header(HEADERS.operation)) ?? '';
    // A projection decides what is in the body, so any field may be missing.
    const ids = [field(body, '_id'), header(HEADERS.documentId)].map(readText);
    if (ids.some((id) => id !== undefined && UNPUBLISHED_ID.test(id))) {
      return { kind: 'filtered', topic, why: 'the document is a draft or the version of a release' };
    }
    const slug = firstText(field(body, 'slug', 'current'), field(body, 'slug'));
    const path = firstText(field(body, 'path'), field(body, 'pathname', 'current'), field(body, 'pathname'), slug);
    return published(
      {
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
  },

  sample({ uuid, title, slug, url, at }) {
    const time = at.toISOString();
    return {
      _id: uuid,
      _type: 'article',
      _rev: uuid.replaceAll('-', ''),
      _createdAt: time,
      _updatedAt: time,
      title,
      slug: { _type: 'slug', current: slug },
      url,
    };
  },

  sign({ id, at, body, json, secret }) {
    const t = at.getTime();
    return {
      headers: {
        [HEADERS.signature]: `t=${t},v1=${hmacOf('sha256', secret, [`${t}.`, body], 'base64url')}`,
        [HEADERS.idempotencyKey]: id,
        [HEADERS.operation]: 'update',
        [HEADERS.documentId]: identified.safeParse(json).data?._id ?? id,
        'sanity-project-id': 'galleytest',
        'sanity-dataset': 'production',
        'sanity-transaction-id': id,
        [HEADERS.transactionTime]: at.toISOString(),
      },
    };
  },
});

/** A text, or the first of its translations: `{_type: 'localeString', en: …}` or `[{_key: 'en', value: …}]`. */
function inFirstLanguage(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return firstTextOf(value.map((each) => field(each, 'value')));
  return firstTextOf(Object.entries(value).map(([key, text]) => (key.startsWith('_') ? undefined : text)));
}
