import { field, firstInstant, firstText, readText } from '../json-fields.ts';
import { published } from '../published.ts';
import type { Delivery, Reading } from '../source.ts';

const TAKES_AWAY = ['unpublished', 'deleted', 'unpublish', 'archive', 'delete'];

/** Where a notification comes from that changes nothing for visitors: as webhooks say it, and as legacy ones do. */
const PUBLISHES_NOTHING: Readonly<Record<string, string>> = {
  preview: 'a change in the preview',
  delivery_preview: 'a change in the preview',
  content_management: 'a step in the management API, no publish',
};

/**
 * Reads `{notifications: [{data: {system}, message}]}`, one such notification by itself, and those of legacy webhooks,
 * whose `data` lists `items` and `taxonomies`. Of several the event is the last that adds something, else the
 * last; what all of them tell is held to a site's `only`, so that none is lost for another's sake.
 */
export function readNotifications(body: unknown, delivery: Delivery): Reading {
  const list = field(body, 'notifications');
  const all = Array.isArray(list) ? list : [body];
  const publishing = all.filter((each) => whyNot(each) === undefined);
  const newest = publishing.findLast((each) => !takesAway(each)) ?? publishing.at(-1);
  if (publishing.length === 0) {
    return { kind: 'filtered', topic: topicOf(all[0]), why: whyNot(all[0]) ?? 'the delivery holds no notification' };
  }
  const [entity] = entitiesOf(newest);
  const message = field(newest, 'message');
  const id = firstText(field(entity, 'id'), field(entity, 'item', 'id'));
  const types = publishing.map(contentTypesOf);
  return published(
    {
      source: 'kontent',
      topic: topicOf(newest),
      action: takesAway(newest) ? 'unpublish' : 'publish',
      id,
      title: firstText(field(entity, 'name'), field(entity, 'codename')),
      url: editorLink(message, entity, id),
      at: firstInstant(field(entity, 'last_modified'), field(message, 'created_timestamp')),
      topics: [...new Set(publishing.map(topicOf))],
      // One that doesn't tell its type could be of any.
      contentType: types.some(({ length }) => length === 0) ? undefined : [...new Set(types.flat())],
    },
    delivery,
  );
}

function takesAway(notification: unknown): boolean {
  return TAKES_AWAY.includes(actionOf(notification) ?? '');
}

function whyNot(notification: unknown): string | undefined {
  const message = field(notification, 'message');
  const slot = firstText(field(message, 'delivery_slot'), field(message, 'api_name')) ?? '';
  return Object.hasOwn(PUBLISHES_NOTHING, slot) ? PUBLISHES_NOTHING[slot] : undefined;
}

/** `content_item.published`, in legacy webhooks `content_item_variant.publish`. */
function topicOf(notification: unknown): string {
  const message = field(notification, 'message');
  const kind = firstText(field(message, 'object_type'), field(message, 'type'));
  return [kind, actionOf(notification)].filter((part) => part !== undefined).join('.');
}

function actionOf(notification: unknown): string | undefined {
  return firstText(field(notification, 'message', 'action'), field(notification, 'message', 'operation'));
}

function entitiesOf(notification: unknown): readonly unknown[] {
  const system = field(notification, 'data', 'system');
  if (system !== undefined) return [system];
  return ['items', 'taxonomies'].flatMap((key) => {
    const list = field(notification, 'data', key);
    return Array.isArray(list) ? list : [];
  });
}

/** Of an item its content type; of anything else what it is, such as `asset`. */
function contentTypesOf(notification: unknown): readonly string[] {
  const kind = readText(field(notification, 'message', 'object_type'));
  if (kind !== undefined && kind !== 'content_item') return [kind];
  return entitiesOf(notification).flatMap((entity) => readText(field(entity, 'type')) ?? []);
}

/** Where the item is edited: only items have such an address, and only in a language. */
function editorLink(message: unknown, entity: unknown, id: string | undefined): string | undefined {
  const environment = firstText(field(message, 'environment_id'), field(message, 'project_id'));
  const language = readText(field(entity, 'language'));
  if (environment === undefined || language === undefined || id === undefined) return undefined;
  const [project, variant, item] = [environment, language, id].map(encodeURIComponent);
  return `https://app.kontent.ai/goto/edit-item/project/${project}/variant-codename/${variant}/item/${item}`;
}
