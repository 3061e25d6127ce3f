import type { WebhookSources } from '../../contract/webhook-sources.ts';
import { field, firstInstant, firstText, readInstant, readText } from './json-fields.ts';
import { published } from './published.ts';
import { anyEqualInConstantTime, hmacOf, outsideWindow, readTimestampMs, timeWindow } from './signature.ts';
import { type Delivery, type Reading, rejected, type WebhookSource } from './source.ts';

const HEADERS = { signature: 'x-webflow-signature', timestamp: 'x-webflow-timestamp' } as const;

/** Triggers after which the published site is as it was. */
const PUBLISHES_NOTHING = /^(?:form_submission|comment_created|ecomm_new_order|ecomm_order_changed|user_account_\w+)$/;

/** A live write stores its two times one after the other; a staged one follows its publish by a person's pace. */
const SAME_WRITE_MS = 60_000;

/**
 * Webflow (https://developers.webflow.com/data/docs/working-with-webhooks): `{timestamp}:{body}` under HMAC-SHA256,
 * hex, the time in milliseconds. Publishing the site or an item publishes, and so does whatever goes away.
 */
export function webflowSource({ window }: NonNullable<WebhookSources['webflow']>): WebhookSource {
  const allowed = timeWindow(window);
  return {
    verify({ header, body }, secrets, now) {
      const [signature, timestamp] = [HEADERS.signature, HEADERS.timestamp].map(header);
      if (!signature || !timestamp) return rejected('missing-header');
      const signedAtMs = readTimestampMs(timestamp, 'ms');
      if (signedAtMs === undefined) return rejected('malformed-header');
      const expected = secrets.map((secret) => hmacOf('sha256', secret, [`${timestamp}:`, body], 'hex'));
      if (!anyEqualInConstantTime(expected, signature)) return rejected('bad-signature');
      const outside = outsideWindow(signedAtMs, now, allowed);
      return outside === undefined ? { ok: true, vendorId: null } : rejected(outside);
    },
    read(_request, body, delivery) {
      const topic = readText(field(body, 'triggerType')) ?? '';
      const filtered = (why: string): Reading => ({ kind: 'filtered', topic, why });
      if (PUBLISHES_NOTHING.test(topic)) return filtered('the trigger publishes nothing');
      if (topic === 'page_created') return filtered('a new page goes live when the site is published');
      const payload = field(body, 'payload');
      if (topic === 'site_publish') return readSite(payload, delivery);
      const told = field(payload, 'items');
      const items: readonly unknown[] = Array.isArray(told) && told.length > 0 ? told : [payload];
      if (/_(?:created|changed)$/.test(topic) && items.every(isStaged))
        return filtered('the item is not published yet');
      return readItems(topic, items, delivery);
    },
  };
}

function readSite(payload: unknown, delivery: Delivery): Reading {
  const named = readText(field(payload, 'domains', '0')) ?? '';
  const domain = /^[\w.-]+$/.test(named) ? named : undefined;
  const by = field(payload, 'publishedBy');
  return published(
    {
      source: 'webflow',
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

/** One publish may be of several items: the first stands for them, and any of them may be what a site's `only` is for. */
function readItems(topic: string, items: readonly unknown[], delivery: Delivery): Reading {
  const removed = /_(?:unpublished|deleted)$/.test(topic);
  const [item] = items;
  const textsOf = (key: string): string[] => items.flatMap((each) => readText(field(each, key)) ?? []);
  const times = removed ? [] : [field(item, 'lastPublished'), field(item, 'lastUpdated')];
  return published(
    {
      source: 'webflow',
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

/** Whether an item's change waits for a publish. One that doesn't tell is taken for live. */
function isStaged(item: unknown): boolean {
  if (field(item, 'isDraft') === true || field(item, 'lastPublished') === null) return true;
  const [live, changed] = [field(item, 'lastPublished'), field(item, 'lastUpdated')].map(readInstant);
  return live !== undefined && changed !== undefined && Date.parse(changed) - Date.parse(live) > SAME_WRITE_MS;
}
