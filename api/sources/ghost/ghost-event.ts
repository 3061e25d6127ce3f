import { field, firstInstant, firstText, readLink, readText } from '../json-fields.ts';
import { pathsOf, published } from '../published.ts';
import type { Delivery, Reading } from '../source.ts';

/** What Ghost tells of, in the order in which a body is searched. */
const KINDS = ['post', 'page', 'tag', 'member'] as const;

/** `sent` went out by mail alone, but has an address too. */
const LIVE = ['published', 'sent'];

type Change = { topic: string; action: 'publish' | 'unpublish' };
type Ignored = { topic: string; why: string };

/**
 * Reads `{post: {current, previous}}`, where `previous` holds only what changed, and all of what was deleted. A body
 * without any of these is `site.changed`, which Ghost sends for everything that visitors can see.
 */
export function readGhostEvent(body: unknown, delivery: Delivery): Reading {
  const kind = KINDS.find((each) => field(body, each) !== undefined);
  const [current, previous] = ['current', 'previous'].map((key) => (kind ? field(body, kind, key) : undefined));
  const change = changeOf(kind, current, previous);
  if ('why' in change) return { kind: 'filtered', ...change };
  // What was taken away has the address of its preview now.
  const url =
    readLink(field(previous, 'url')) ?? (change.action === 'publish' ? readLink(field(current, 'url')) : undefined);
  const either = (key: string) => firstText(field(current, key), field(previous, key));
  return published(
    {
      ...change,
      source: 'ghost',
      id: either('id'),
      title: either('title') ?? either('name'),
      url,
      author: authorOf(current) ?? authorOf(previous),
      at: firstInstant(field(current, 'updated_at')),
      contentType: kind,
      paths: pathsOf(url),
    },
    delivery,
  );
}

function changeOf(kind: (typeof KINDS)[number] | undefined, current: unknown, previous: unknown): Change | Ignored {
  if (kind === undefined) return { topic: 'site.changed', action: 'publish' };
  const event = eventOf(current, previous);
  if (kind === 'member') return { topic: `member.${event}`, why: 'members are not part of the site' };
  if (kind === 'tag') return { topic: `tag.${event}`, action: event === 'deleted' ? 'unpublish' : 'publish' };
  const [status, before] = [current, previous].map((each) => readText(field(each, 'status')));
  if (event === 'deleted') {
    const topic = `${kind}.deleted`;
    return isLive(before) ? { topic, action: 'unpublish' } : { topic, why: 'it was not published' };
  }
  if (isLive(status)) {
    const isNew = event === 'added' || (before !== undefined && !isLive(before));
    return { topic: isNew ? `${kind}.published` : `${kind}.published.edited`, action: 'publish' };
  }
  if (before !== undefined && isLive(before)) return { topic: `${kind}.unpublished`, action: 'unpublish' };
  const topic = status === 'scheduled' && before !== undefined ? `${kind}.scheduled` : `${kind}.${event}`;
  return { topic, why: `it is ${status}, not published` };
}

function eventOf(current: unknown, previous: unknown): 'added' | 'edited' | 'deleted' {
  if (isEmpty(previous)) return 'added';
  return isEmpty(current) ? 'deleted' : 'edited';
}

/** A status that isn't told may be a published one. */
function isLive(status: string | undefined): boolean {
  return status === undefined || LIVE.includes(status);
}

function isEmpty(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}

function authorOf(entity: unknown): string | undefined {
  return firstText(field(entity, 'primary_author', 'name'), field(entity, 'authors', '0', 'name'));
}
