import { field, readInstant, readLink, readText } from './json-fields.ts';
import type { Delivery, Reading } from './source.ts';

export type Filters = Readonly<Record<string, string | readonly string[]>>;

/** Where senders say what happened, in the order of how telling it is. */
const TOPIC_KEYS = ['type', 'event', 'topic', 'event_type', 'eventType', 'action', 'operation'] as const;
/** Where senders put the thing that changed: beside the topic, in one of these, or one deeper under `current`. */
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

/** Words in a topic that say content went away. */
const REMOVAL = /unpublish|delete|remove|archive|trash/i;

/**
 * Reads a JSON delivery of a sender whose shape isn't known: every verified delivery is a publish, unless the site's
 * filters say otherwise, and its fields are taken from where senders commonly put them.
 */
export function readJsonDelivery(source: string, body: unknown, delivery: Delivery, filters: Filters = {}): Reading {
  const topic = firstOf([body], TOPIC_KEYS, readText) ?? '';
  const missed = firstMissed(body, filters);
  if (missed !== undefined) return { kind: 'filtered', topic, why: `filters.${missed}` };
  const entities = ENTITY_KEYS.flatMap((key) => [field(body, key, 'current'), field(body, key)]);
  const places = [...entities, body];
  const id = firstOf(places, ID_KEYS, readId) ?? delivery.id;
  return {
    kind: 'publish',
    event: {
      source,
      topic,
      action: REMOVAL.test(topic) ? 'unpublish' : 'publish',
      id,
      title: firstOf(places, TITLE_KEYS, readTitle) ?? id,
      url: firstOf(places, URL_KEYS, readLink) ?? '',
      author: firstOf(places, AUTHOR_KEYS, readPerson) ?? '',
      at: firstOf([body, ...entities], TIME_KEYS, readInstant) ?? delivery.receivedAt.toISOString(),
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

/** The first filter that the body doesn't pass. */
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

/** A title as text, or as WordPress (`{rendered}`) and localised systems (`{en: …}`) write it: its first text. */
function readTitle(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return readText(value);
  return Object.values(value)
    .map(readText)
    .find((text) => text !== undefined);
}

function readPerson(value: unknown): string | undefined {
  return readText(value) ?? firstOf([value], PERSON_KEYS, readText);
}
