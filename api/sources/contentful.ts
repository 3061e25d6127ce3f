import { z } from 'zod';
import { commonSettings } from '../../contract/webhook-settings.ts';
import { field, readInstant, readText } from '../webhooks/json-fields.ts';
import { acceptWithin, anyEqualInConstantTime, hmacOf, readTimestampMs, timeWindow } from '../webhooks/signature.ts';
import { type Delivery, defineSource, type ParsedDelivery, type ReadHeader, rejected } from '../webhooks/source.ts';

const HEADERS = {
  signature: 'x-contentful-signature',
  signedHeaders: 'x-contentful-signed-headers',
  timestamp: 'x-contentful-timestamp',
  topic: 'x-contentful-topic',
  idempotencyKey: 'x-contentful-idempotency-key',
} as const;

/** The signature must cover these headers, otherwise neither the time nor the list is protected. */
const MUST_BE_SIGNED = [HEADERS.signedHeaders, HEADERS.timestamp] as const;

const VENDOR_PAST_MS = 30_000;

/** `ContentManagement.Entry.publish`: the kind and the action. */
const TOPIC = /^ContentManagement\.(\w+)\.(publish|unpublish|delete)$/;

const tombstoneOrEntity = z
  .looseObject({ sys: z.looseObject({}).catch({}), fields: z.looseObject({}).catch({}) })
  .partial();

const typed = z.object({ sys: z.object({ type: z.string().regex(/^\w+$/) }) });

/**
 * Contentful (https://www.contentful.com/developers/docs/webhooks/request-verification/): method, path, the listed
 * headers and the body, one per line, under HMAC-SHA256, hex. Publish, unpublish and delete events publish.
 */
export const source = defineSource({
  settings: z.strictObject({
    ...commonSettings,
    /** The path that Contentful calls, if a proxy changes it: the path is signed. */
    path: z.string().startsWith('/', 'expected a path that begins with /').optional(),
  }),

  verify({ method, path, header, body }, { settings, secrets, now }) {
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
    const head = canonicalHead(method, settings.path ?? path, names, header);
    if (head === undefined) return rejected('missing-header');
    const expected = secrets.map((secret) => hmacOf('sha256', secret, [head, body], 'hex'));
    if (!anyEqualInConstantTime(expected, signature)) return rejected('bad-signature');
    const window = timeWindow(settings.window, { pastMs: VENDOR_PAST_MS });
    return acceptWithin(window, signedAtMs, now, header(HEADERS.idempotencyKey) || null);
  },

  parse(delivery) {
    const topic = delivery.header(HEADERS.topic) ?? '';
    const [, kind, action] = TOPIC.exec(topic) ?? [];
    if (kind === undefined) return { kind: 'filtered', topic, why: 'the topic publishes nothing' };
    return parseEntity(topic, kind, action === 'publish' ? 'publish' : 'unpublish', delivery);
  },

  sample({ uuid, title, slug, at }) {
    const link = (linkType: string, id: string) => ({ sys: { type: 'Link', linkType, id } });
    const time = at.toISOString();
    return {
      sys: {
        type: 'Entry',
        id: `galleytest${uuid.replaceAll('-', '')}`,
        space: link('Space', 'galley-test'),
        environment: link('Environment', 'master'),
        contentType: link('ContentType', 'article'),
        createdBy: link('User', 'galley-webhook-send'),
        updatedBy: link('User', 'galley-webhook-send'),
        publishedBy: link('User', 'galley-webhook-send'),
        createdAt: time,
        updatedAt: time,
        publishedAt: time,
        revision: 1,
        publishedCounter: 1,
        publishedVersion: 1,
      },
      fields: { title: { 'en-US': title }, slug: { 'en-US': slug } },
    };
  },

  sign({ id, at, body, json, path, secret }, settings) {
    const sent: Record<string, string> = {
      'content-type': 'application/vnd.contentful.management.v1+json',
      [HEADERS.idempotencyKey]: id,
      [HEADERS.timestamp]: String(at.getTime()),
      [HEADERS.topic]: `ContentManagement.${topicOf(json)}`,
      'x-contentful-webhook-name': 'galley webhook send',
    };
    const names = [...Object.keys(sent), HEADERS.signedHeaders].sort();
    const headers: Record<string, string> = { ...sent, [HEADERS.signedHeaders]: names.join(',') };
    // Contentful signs the path that it calls, which a proxy may change on the way.
    const head = canonicalHead('POST', settings.path ?? path, names, (name) => headers[name]) ?? '';
    return { headers: { ...headers, [HEADERS.signature]: hmacOf('sha256', secret, [head, body], 'hex') } };
  },
});

/** Everything that is signed before the body; undefined if a listed header is missing. */
function canonicalHead(method: string, path: string, names: readonly string[], header: ReadHeader): string | undefined {
  const lines: string[] = [];
  for (const name of [...names].sort()) {
    const value = header(name);
    if (value === undefined) return undefined;
    lines.push(`${name}:${value.trim()}`);
  }
  return `${method}\n${path}\n${lines.join(';')}\n`;
}

function parseEntity(
  topic: string,
  kind: string,
  action: 'publish' | 'unpublish',
  { body, id: deliveryId, receivedAt }: Delivery,
): ParsedDelivery {
  // Payloads can be customized in Contentful, so any field may be missing.
  const { sys = {}, fields = {} } = tombstoneOrEntity.safeParse(body).data ?? {};
  const id = readText(sys.id) ?? deliveryId;
  const people = [sys.publishedBy, sys.deletedBy, sys.updatedBy, sys.createdBy];
  const times = [sys.deletedAt, action === 'publish' ? sys.publishedAt : undefined, sys.updatedAt];
  return {
    kind: 'publish',
    contentType: readText(field(sys.contentType, 'sys', 'id')),
    event: {
      topic,
      action,
      id,
      title: [fields.title, fields.name, fields.slug].map(inFirstLocale).find((text) => text !== undefined) ?? id,
      url: webAppLink(kind, id, sys),
      author: people.map((person) => readText(field(person, 'sys', 'id'))).find((text) => text !== undefined) ?? '',
      at: times.map(readInstant).find((time) => time !== undefined) ?? receivedAt.toISOString(),
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

/** The body of an unpublish has a type such as `DeletedEntry`. */
function topicOf(json: unknown): string {
  const type = typed.safeParse(json).data?.sys.type ?? 'Entry';
  return type.startsWith('Deleted') ? `${type.slice('Deleted'.length)}.unpublish` : `${type}.publish`;
}
