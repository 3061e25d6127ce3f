import { field, readInstant, readLink, readText } from './json-fields.ts';
import type { Delivery, Filters, ParsedDelivery } from './source.ts';

/** Where senders put the event's name, the most specific key first. */
const TOPIC_KEYS = ['type', 'event', 'topic', 'event_type', 'eventType', 'action', 'operation'] as const;
/** Where senders put what changed: under one of these keys, or one level deeper under `current`. */
const ENTITY_KEYS = [
  'data',
  'entry',
  'payload',
  'object',
  'item',
  'post',
  'page',
  'article',
  'document',
  'record',
] as const;
const ID_KEYS = ['id', '_id', 'uid', 'uuid', 'documentId', 'key', 'keys', 'ID'] as const;
const TITLE_KEYS = ['title', 'name', 'headline', 'post_title', 'slug'] as const;
const URL_KEYS = ['url', 'link', 'permalink', 'href', 'full_url', 'canonical_url'] as const;
const AUTHOR_KEYS = ['author', 'updatedBy', 'updated_by', 'user', 'actor', 'accountability', 'sender'] as const;
const PERSON_KEYS = ['name', 'username', 'login', 'email', 'user', 'id'] as const;
const TIME_KEYS = [
  'timestamp',
  'publishedAt',
  'published_at',
  'updatedAt',
  'updated_at',
  'created_at',
  'date',
] as const;

/** Words in a topic for content that was removed. */
const REMOVAL = /unpublish|delete|remove|archive|trash/i;

/**
 * Parses JSON of an unknown shape. Every verified delivery is a publish unless the site's filters exclude it; the event's
 * fields are read from the keys that senders commonly use.
 */
export function parseJsonDelivery(
  { body, id: deliveryId, receivedAt }: Delivery,
  filters: Filters = {},
): ParsedDelivery {
  const topic = firstOf([body], TOPIC_KEYS, readText) ?? '';
  const missed = firstMissed(body, filters);
  if (missed !== undefined) return { kind: 'filtered', topic, why: `filters.${missed}` };
  const entities = ENTITY_KEYS.flatMap((key) => [field(body, key, 'current'), field(body, key)]);
  const places = [...entities, body];
  const id = firstOf(places, ID_KEYS, readId) ?? deliveryId;
  return {
    kind: 'publish',
    event: {
      topic,
      action: REMOVAL.test(topic) ? 'unpublish' : 'publish',
      id,
      title: firstOf(places, TITLE_KEYS, readTitle) ?? id,
      url: firstOf(places, URL_KEYS, readLink) ?? '',
      author: firstOf(places, AUTHOR_KEYS, readPerson) ?? '',
      at: firstOf([body, ...entities], TIME_KEYS, readInstant) ?? receivedAt.toISOString(),
    },
  };
}

function firstOf(
  places: readonly unknown[],
  keys: readonly string[],
  read: (value: unknown) => string | undefined,
): string | undefined {
  for (const place of places) {
    for (const key of keys) {
      const text = read(field(place, key));
      if (text !== undefined) return text;
    }
  }
  return undefined;
}

/** The first filter that the body doesn't pass, if there is one. */
export function firstMissed(body: unknown, filters: Filters): string | undefined {
  const missed = Object.entries(filters).find(([path, allowed]) => {
    const value = field(body, ...path.split('.'));
    const text = typeof value === 'boolean' ? String(value) : readText(value);
    return text === undefined || ![allowed].flat().includes(text);
  });
  return missed?.[0];
}

/** Directus sends the changed ids as a list under `keys`. */
function readId(value: unknown): string | undefined {
  return readText(Array.isArray(value) ? value[0] : value);
}

/** A title as text, or the first text in WordPress's `{rendered}` or in a localized `{en: …}`. */
function readTitle(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return readText(value);
  return Object.values(value)
    .map(readText)
    .find((text) => text !== undefined);
}

function readPerson(value: unknown): string | undefined {
  return readText(value) ?? firstOf([value], PERSON_KEYS, readText);
}
