import { field, firstInstant, firstText, readLink, readText } from '../webhooks/json-fields.ts';
import { published } from '../webhooks/source.ts';
import { tokenSource } from '../webhooks/token-source.ts';

/** Directus's own records, which no site shows. */
const RECORDS = /^directus_(?:activity|comments|notifications|presets|revisions|sessions|versions)$/;

const HIDDEN = /^(?:draft|archived)$/i;

/**
 * Directus signs nothing: a token in a header. A flow (https://directus.io/docs/guides/automate/triggers) sends its
 * `$trigger`, either alone or under `trigger` beside the `user`. Every change of an item publishes, except a new draft.
 */
export const source = tokenSource({
  parse(delivery) {
    const { body } = delivery;
    const trigger = field(body, 'trigger') ?? body;
    // A flow that a person starts by hand holds the request of the Data Studio instead of an event.
    const chosen = field(trigger, 'body');
    const topic = readText(field(trigger, 'event')) ?? (field(chosen, 'collection') === undefined ? '' : 'manual');
    const filtered = (why: string) => ({ kind: 'filtered', topic, why }) as const;
    const collection = firstText(field(trigger, 'collection'), field(chosen, 'collection'));
    if (topic.startsWith('auth.')) return filtered('the event publishes nothing');
    if (RECORDS.test(collection ?? '')) return filtered('a record of Directus itself');
    const payload = field(trigger, 'payload');
    const hidden = HIDDEN.test(readText(field(payload, 'status')) ?? '');
    if (hidden && topic.endsWith('.create')) return filtered('the item is a draft');
    return published(
      {
        topic,
        // An update holds only what changed: a hiding status in it removes the item from the site.
        action: hidden || topic.endsWith('.delete') ? 'unpublish' : 'publish',
        id: firstText(field(trigger, 'key'), field(trigger, 'keys', '0'), field(chosen, 'keys', '0')),
        title: firstText(
          field(payload, 'title'),
          field(payload, 'name'),
          field(payload, 'headline'),
          field(payload, 'slug'),
        ),
        url: readLink(field(payload, 'url')),
        author: userOf(body) ?? userOf(trigger),
        at: firstInstant(field(payload, 'date_updated'), field(payload, 'date_created')),
        contentType: collection,
      },
      delivery,
    );
  },

  sample: ({ uuid, title, slug, url, author, at }) => ({
    event: 'articles.items.update',
    accountability: { user: author, role: 'editor', admin: false, app: true },
    payload: { title, slug, url, status: 'published', date_updated: at.toISOString() },
    keys: [uuid],
    collection: 'articles',
  }),
});

/** A flow's template writes these words if no user is signed in. */
const NO_USER = new Set(['null', 'undefined']);

function userOf(value: unknown): string | undefined {
  const user = firstText(field(value, 'user'), field(value, 'accountability', 'user'));
  return user !== undefined && NO_USER.has(user) ? undefined : user;
}
