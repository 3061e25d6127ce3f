import { field, firstInstant, firstText, readText } from '../webhooks/json-fields.ts';
import { anyEqualInConstantTime, hmacOf } from '../webhooks/signature.ts';
import { defineSource, plainSettings, published, rejected } from '../webhooks/source.ts';

const SIGNATURE_HEADER = 'x-kontent-ai-signature';
const LEGACY_SIGNATURE_HEADER = 'x-kc-signature';

const REMOVALS = ['unpublished', 'deleted', 'unpublish', 'archive', 'delete'];

/** Slots whose notifications change nothing for visitors, in current and in legacy webhooks. */
const PUBLISHES_NOTHING: Readonly<Record<string, string>> = {
  preview: 'a change in the preview',
  delivery_preview: 'a change in the preview',
  content_management: 'a step in the management API, no publish',
};

/**
 * Kontent.ai (https://kontent.ai/learn/docs/webhooks): the body under HMAC-SHA256, base64. It signs no time and sends no
 * id. Changes of published data publish; those of the preview and of the management API do not.
 */
export const source = defineSource({
  settings: plainSettings,

  verify({ header, body }, { secrets }) {
    const signature = header(SIGNATURE_HEADER) ?? header(LEGACY_SIGNATURE_HEADER);
    if (!signature) return rejected('missing-header');
    const expected = secrets.map((secret) => hmacOf('sha256', secret, [body], 'base64'));
    return anyEqualInConstantTime(expected, signature) ? { ok: true, vendorId: null } : rejected('bad-signature');
  },

  /**
   * A body is `{notifications: [{data: {system}, message}]}`, a single such notification, or that of a legacy webhook,
   * whose `data` lists `items` and `taxonomies`. The event is the last notification that adds something, or the last
   * one. `only` checks the topics and types of all of them, so that no publish is lost because of another.
   */
  parse(delivery) {
    const list = field(delivery.body, 'notifications');
    const all = Array.isArray(list) ? list : [delivery.body];
    const publishing = all.filter((each) => whyFiltered(each) === undefined);
    const newest = publishing.findLast((each) => !isRemoval(each)) ?? publishing.at(-1);
    if (publishing.length === 0) {
      const why = whyFiltered(all[0]) ?? 'the delivery holds no notification';
      return { kind: 'filtered', topic: topicOf(all[0]), why };
    }
    const [entity] = entitiesOf(newest);
    const message = field(newest, 'message');
    const id = firstText(field(entity, 'id'), field(entity, 'item', 'id'));
    const types = publishing.map(contentTypesOf);
    return published(
      {
        topic: topicOf(newest),
        action: isRemoval(newest) ? 'unpublish' : 'publish',
        id,
        title: firstText(field(entity, 'name'), field(entity, 'codename')),
        url: editorLink(message, entity, id),
        at: firstInstant(field(entity, 'last_modified'), field(message, 'created_timestamp')),
        topics: [...new Set(publishing.map(topicOf))],
        // A notification without a type may be of any type.
        contentType: types.some(({ length }) => length === 0) ? undefined : [...new Set(types.flat())],
      },
      delivery,
    );
  },

  sample({ uuid, title, slug, at }) {
    const notification = {
      data: {
        system: {
          id: uuid,
          name: title,
          codename: slug.replaceAll('-', '_'),
          collection: 'default',
          workflow: 'default',
          workflow_step: 'published',
          language: 'default',
          type: 'article',
          last_modified: at.toISOString(),
        },
      },
      message: {
        environment_id: uuid,
        object_type: 'content_item',
        action: 'published',
        delivery_slot: 'published',
      },
    };
    return { notifications: [notification] };
  },

  sign: ({ body, secret }) => ({ headers: { [SIGNATURE_HEADER]: hmacOf('sha256', secret, [body], 'base64') } }),
});

function isRemoval(notification: unknown): boolean {
  return REMOVALS.includes(actionOf(notification) ?? '');
}

function whyFiltered(notification: unknown): string | undefined {
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

/** The content type of an item; otherwise the kind of object, such as `asset`. */
function contentTypesOf(notification: unknown): readonly string[] {
  const kind = readText(field(notification, 'message', 'object_type'));
  if (kind !== undefined && kind !== 'content_item') return [kind];
  return entitiesOf(notification).flatMap((entity) => readText(field(entity, 'type')) ?? []);
}

/** Says where the item is edited. Only an item in a language has such a URL. */
function editorLink(message: unknown, entity: unknown, id: string | undefined): string | undefined {
  const environment = firstText(field(message, 'environment_id'), field(message, 'project_id'));
  const language = readText(field(entity, 'language'));
  if (environment === undefined || language === undefined || id === undefined) return undefined;
  const [project, variant, item] = [environment, language, id].map(encodeURIComponent);
  return `https://app.kontent.ai/goto/edit-item/project/${project}/variant-codename/${variant}/item/${item}`;
}
