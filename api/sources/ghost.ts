import { z } from 'zod';
import { commonSettings } from '../../contract/webhook-settings.ts';
import { field, firstInstant, firstText, readLink, readText } from '../webhooks/json-fields.ts';
import { acceptWithin, anyEqualInConstantTime, hmacOf, readTimestampMs, timeWindow } from '../webhooks/signature.ts';
import { defineSource, pathsOf, published, rejected } from '../webhooks/source.ts';

const SIGNATURE = /^sha256=([0-9a-f]+),\s*t=(\d+)$/;

/** The body of `site.changed` is the same for every change: empty, or in some releases the event's name. */
const SITE_CHANGED = /^\{(?:"event":"site\.changed")?\}$/;
const MAX_SITE_CHANGED_BYTES = 32;

/** The keys of a body, in the order in which they are searched. */
const KINDS = ['post', 'page', 'tag', 'member'] as const;

/** `sent` was delivered by mail only, but has a URL too. */
const LIVE = ['published', 'sent'];

/**
 * Ghost (https://docs.ghost.org/webhooks): the body and directly after it the time under HMAC-SHA256, hex. Releases
 * before July 2024 signed only the body; `unsignedTime` accepts that, but then a copied delivery can be sent again.
 * Ghost doesn't send the event's name, so it is derived from what changed.
 */
export const source = defineSource({
  settings: z.strictObject({
    ...commonSettings,
    /** Also accepts signatures of Ghost before July 2024, which don't cover the time. */
    unsignedTime: z.boolean().default(false),
  }),

  verify({ header, body }, { settings, secrets, now }) {
    const given = header('x-ghost-signature');
    if (!given) return rejected('missing-header');
    const [, signature, timestamp] = SIGNATURE.exec(given) ?? [];
    const signedAtMs = readTimestampMs(timestamp ?? '', 'ms');
    if (signature === undefined || timestamp === undefined || signedAtMs === undefined) {
      return rejected('malformed-header');
    }
    const texts = settings.unsignedTime ? [[body, timestamp], [body]] : [[body, timestamp]];
    const expected = secrets.flatMap((secret) => texts.map((parts) => hmacOf('sha256', secret, parts, 'hex')));
    if (!anyEqualInConstantTime(expected, signature)) return rejected('bad-signature');
    // By the body's hash, the second change of a site would be a resend of the first. A resend repeats the time.
    const isSiteChanged = body.length <= MAX_SITE_CHANGED_BYTES && SITE_CHANGED.test(body.toString());
    const vendorId = isSiteChanged ? `site.changed:${timestamp}` : null;
    return acceptWithin(timeWindow(settings.window), signedAtMs, now, vendorId);
  },

  /**
   * A body is `{post: {current, previous}}`: `previous` holds only what changed, or everything of a deleted post. A body
   * without any of the kinds is `site.changed`, which Ghost sends for every visible change.
   */
  parse(delivery) {
    const { body } = delivery;
    const kind = KINDS.find((each) => field(body, each) !== undefined);
    const [current, previous] = ['current', 'previous'].map((key) => (kind ? field(body, kind, key) : undefined));
    const change = changeOf(kind, current, previous);
    if ('why' in change) return { kind: 'filtered', ...change };
    // The current URL of an unpublished post is that of its preview.
    const url =
      readLink(field(previous, 'url')) ?? (change.action === 'publish' ? readLink(field(current, 'url')) : undefined);
    const either = (key: string) => firstText(field(current, key), field(previous, key));
    return published(
      {
        ...change,
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
  },

  sample({ uuid, title, slug, url, author, at }) {
    const time = at.toISOString();
    const person = { id: '1', name: author, slug: 'galley' };
    return {
      post: {
        current: {
          id: uuid.replaceAll('-', '').slice(0, 24),
          uuid,
          title,
          slug,
          url,
          status: 'published',
          visibility: 'public',
          created_at: time,
          updated_at: time,
          published_at: time,
          authors: [person],
          primary_author: person,
        },
        previous: { status: 'draft', updated_at: time, published_at: null },
      },
    };
  },

  sign({ at, body, secret }) {
    const t = String(at.getTime());
    const signature = hmacOf('sha256', secret, [body, t], 'hex');
    return { headers: { 'x-ghost-signature': `sha256=${signature}, t=${t}`, 'content-version': 'v6.0' } };
  },
});

type Change = { topic: string; action: 'publish' | 'unpublish' };
type Ignored = { topic: string; why: string };

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

/** A missing status may mean published. */
function isLive(status: string | undefined): boolean {
  return status === undefined || LIVE.includes(status);
}

function isEmpty(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}

function authorOf(entity: unknown): string | undefined {
  return firstText(field(entity, 'primary_author', 'name'), field(entity, 'authors', '0', 'name'));
}
