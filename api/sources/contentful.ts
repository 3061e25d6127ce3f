import { z } from 'zod';
import type { WebhookSources } from '../../contract/webhook-sources.ts';
import { field, readInstant, readText } from './json-fields.ts';
import { anyEqualInConstantTime, hmacOf, outsideWindow, readTimestampMs, timeWindow } from './signature.ts';
import { type Delivery, type Reading, rejected, type WebhookRequest, type WebhookSource } from './source.ts';

const HEADERS = {
  signature: 'x-contentful-signature',
  signedHeaders: 'x-contentful-signed-headers',
  timestamp: 'x-contentful-timestamp',
  topic: 'x-contentful-topic',
  idempotencyKey: 'x-contentful-idempotency-key',
} as const;

/** Without these among the signed headers, neither the time nor the list itself would be protected. */
const MUST_BE_SIGNED = [HEADERS.signedHeaders, HEADERS.timestamp] as const;

const VENDOR_PAST_MS = 30_000;

/** `ContentManagement.Entry.publish` → its kind and what it does. */
const TOPIC = /^ContentManagement\.(\w+)\.(publish|unpublish|delete)$/;

const tombstoneOrEntity = z
  .looseObject({ sys: z.looseObject({}).catch({}), fields: z.looseObject({}).catch({}) })
  .partial();

/**
 * Contentful (https://www.contentful.com/developers/docs/webhooks/request-verification/): method, path, the listed
 * headers and the body, one a line, under HMAC-SHA256, hex. Publishing, unpublishing and deleting publish.
 */
export function contentfulSource({ window, path }: NonNullable<WebhookSources['contentful']>): WebhookSource {
  const allowed = timeWindow(window, VENDOR_PAST_MS);
  return {
    verify(request, secrets, now) {
      const { header, body } = request;
      const [signature, listed, timestamp, topic] = [
        HEADERS.signature,
        HEADERS.signedHeaders,
        HEADERS.timestamp,
        HEADERS.topic,
      ].map(header);
      if (!signature || !listed || !timestamp || !topic) return rejected('missing-header');
      const signedAtMs = readTimestampMs(timestamp, 'ms');
      const names = listed.split(',').map((name) => name.trim().toLowerCase());
      if (signedAtMs === undefined || !MUST_BE_SIGNED.every((name) => names.includes(name))) {
        return rejected('malformed-header');
      }
      const head = canonicalHead({ ...request, path: path ?? request.path }, names);
      if (head === undefined) return rejected('missing-header');
      const expected = secrets.map((secret) => hmacOf('sha256', secret, [head, body], 'hex'));
      if (!anyEqualInConstantTime(expected, signature)) return rejected('bad-signature');
      const outside = outsideWindow(signedAtMs, now, allowed);
      return outside === undefined ? { ok: true, vendorId: header(HEADERS.idempotencyKey) || null } : rejected(outside);
    },
    read({ header }, body, delivery) {
      const topic = header(HEADERS.topic) ?? '';
      const [, kind, action] = TOPIC.exec(topic) ?? [];
      if (kind === undefined) return { kind: 'filtered', topic, why: 'the topic publishes nothing' };
      return readEntity(topic, kind, action === 'publish' ? 'publish' : 'unpublish', body, delivery);
    },
  };
}

/** Everything that is signed before the body; undefined where a listed header didn't come. */
function canonicalHead({ method, path, header }: WebhookRequest, names: readonly string[]): string | undefined {
  const lines: string[] = [];
  for (const name of [...names].sort()) {
    const value = header(name);
    if (value === undefined) return undefined;
    lines.push(`${name}:${value.trim()}`);
  }
  return `${method}\n${path}\n${lines.join(';')}\n`;
}

function readEntity(
  topic: string,
  kind: string,
  action: 'publish' | 'unpublish',
  body: unknown,
  delivery: Delivery,
): Reading {
  // A webhook's payload can be customised in Contentful, so nothing in it is certain.
  const { sys = {}, fields = {} } = tombstoneOrEntity.safeParse(body).data ?? {};
  const id = readText(sys.id) ?? delivery.id;
  const people = [sys.publishedBy, sys.deletedBy, sys.updatedBy, sys.createdBy];
  const times = [sys.deletedAt, action === 'publish' ? sys.publishedAt : undefined, sys.updatedAt];
  return {
    kind: 'publish',
    contentType: readText(field(sys.contentType, 'sys', 'id')),
    event: {
      source: 'contentful',
      topic,
      action,
      id,
      title: [fields.title, fields.name, fields.slug].map(inFirstLocale).find((text) => text !== undefined) ?? id,
      url: webAppLink(kind, id, sys),
      author: people.map((person) => readText(field(person, 'sys', 'id'))).find((text) => text !== undefined) ?? '',
      at: times.map(readInstant).find((time) => time !== undefined) ?? delivery.receivedAt.toISOString(),
    },
  };
}

/** Contentful writes a field as `{"en-US": …, "de": …}`, the space's default locale first. */
function inFirstLocale(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return readText(value);
  return Object.values(value)
    .map(readText)
    .find((text) => text !== undefined);
}

function webAppLink(kind: string, id: string, sys: Record<string, unknown>): string {
  const [space, environment] = [field(sys.space, 'sys', 'id'), field(sys.environment, 'sys', 'id')].map(readText);
  const folder = kind === 'Asset' ? 'assets' : kind === 'Entry' ? 'entries' : undefined;
  if (space === undefined || folder === undefined) return '';
  const parts = ['spaces', space, 'environments', environment ?? 'master', folder, id].map(encodeURIComponent);
  return `https://app.contentful.com/${parts.join('/')}`;
}
