import { field, firstInstant, firstText, readInstant, readText } from '../webhooks/json-fields.ts';
import { acceptWithin, anyEqualInConstantTime, hmacOf, readTimestampMs, timeWindow } from '../webhooks/signature.ts';
import {
  type Delivery,
  defineSource,
  type Filtered,
  type ParsedDelivery,
  plainSettings,
  published,
  rejected,
} from '../webhooks/source.ts';

const HEADERS = { signature: 'x-webflow-signature', timestamp: 'x-webflow-timestamp' } as const;

/** Triggers that don't change the published site. */
const PUBLISHES_NOTHING = /^(?:form_submission|comment_created|ecomm_new_order|ecomm_order_changed|user_account_\w+)$/;

/** A live write stores both times at once; the publish of a staged item comes later, by hand. */
const SAME_WRITE_MS = 60_000;

/**
 * Webflow (https://developers.webflow.com/data/docs/working-with-webhooks): `{timestamp}:{body}` under HMAC-SHA256,
 * hex, the time in milliseconds. Publishing the site or an item publishes, and so does every removal.
 */
export const source = defineSource({
  settings: plainSettings,

  verify({ header, body }, { settings, secrets, now }) {
    const [signature, timestamp] = [HEADERS.signature, HEADERS.timestamp].map(header);
    if (!signature || !timestamp) return rejected('missing-header');
    const signedAtMs = readTimestampMs(timestamp, 'ms');
    if (signedAtMs === undefined) return rejected('malformed-header');
    const expected = secrets.map((secret) => hmacOf('sha256', secret, [`${timestamp}:`, body], 'hex'));
    if (!anyEqualInConstantTime(expected, signature)) return rejected('bad-signature');
    return acceptWithin(timeWindow(settings.window), signedAtMs, now, null);
  },

  parse(delivery) {
    const { body } = delivery;
    const topic = readText(field(body, 'triggerType')) ?? '';
    const filtered = (why: string): Filtered => ({ kind: 'filtered', topic, why });
    if (PUBLISHES_NOTHING.test(topic)) return filtered('the trigger publishes nothing');
    if (topic === 'page_created') return filtered('a new page goes live when the site is published');
    const payload = field(body, 'payload');
    if (topic === 'site_publish') return parseSite(payload, delivery);
    const listed = field(payload, 'items');
    const items: readonly unknown[] = Array.isArray(listed) && listed.length > 0 ? listed : [payload];
    if (/_(?:created|changed)$/.test(topic) && items.every(isStaged)) return filtered('the item is not published yet');
    return parseItems(topic, items, delivery);
  },

  sample({ uuid, title, slug, at }) {
    const time = at.toISOString();
    const id = (from: string): string => Buffer.from(from).toString('hex').slice(0, 24).padEnd(24, '0');
    const item = {
      id: uuid.replaceAll('-', '').slice(0, 24),
      siteId: id('site'),
      workspaceId: id('workspace'),
      collectionId: id('collection'),
      cmsLocaleId: null,
      lastPublished: time,
      lastUpdated: time,
      createdOn: time,
      isArchived: false,
      isDraft: false,
      fieldData: { name: title, slug },
    };
    return { triggerType: 'collection_item_published', payload: { items: [item] } };
  },

  sign({ at, body, secret }) {
    const timestamp = String(at.getTime());
    const signature = hmacOf('sha256', secret, [`${timestamp}:`, body], 'hex');
    return { headers: { [HEADERS.timestamp]: timestamp, [HEADERS.signature]: signature } };
  },
});

function parseSite(payload: unknown, delivery: Delivery): ParsedDelivery {
  const named = readText(field(payload, 'domains', '0')) ?? '';
  const domain = /^[\w.-]+$/.test(named) ? named : undefined;
  const by = field(payload, 'publishedBy');
  return published(
    {
      topic: 'site_publish',
      action: 'publish',
      id: readText(field(payload, 'siteId')),
      title: domain,
      url: domain && `https://${domain}`,
      author: firstText(field(by, 'displayName'), field(by, 'name'), field(by, 'id')),
      at: readInstant(field(payload, 'publishedOn')),
    },
    delivery,
  );
}

/** One publish may hold several items: the event describes the first, and `only` checks all of them. */
function parseItems(topic: string, items: readonly unknown[], delivery: Delivery): ParsedDelivery {
  const removed = /_(?:unpublished|deleted)$/.test(topic);
  const [item] = items;
  const textsOf = (key: string): string[] => items.flatMap((each) => readText(field(each, key)) ?? []);
  const times = removed ? [] : [field(item, 'lastPublished'), field(item, 'lastUpdated')];
  return published(
    {
      topic,
      action: removed ? 'unpublish' : 'publish',
      id: firstText(field(item, 'id'), field(item, 'pageId')),
      title: firstText(field(item, 'fieldData', 'name'), field(item, 'fieldData', 'slug'), field(item, 'pageTitle')),
      at: firstInstant(...times),
      contentType: textsOf('collectionId'),
      paths: textsOf('publishedPath'),
    },
    delivery,
  );
}

/** Whether an item's change waits for a publish. Without its times, an item counts as live. */
function isStaged(item: unknown): boolean {
  if (field(item, 'isDraft') === true || field(item, 'lastPublished') === null) return true;
  const [live, changed] = [field(item, 'lastPublished'), field(item, 'lastUpdated')].map(readInstant);
  return live !== undefined && changed !== undefined && Date.parse(changed) - Date.parse(live) > SAME_WRITE_MS;
}
