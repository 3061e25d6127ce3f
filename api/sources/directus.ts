import { field, firstInstant, firstText, readLink, readText } from './json-fields.ts';
import { published } from './published.ts';
import type { WebhookSource } from './source.ts';
import { type TokenSettings, withToken } from './token.ts';

/** Directus's own records, of which a site shows nothing. */
const RECORDS = /^directus_(?:activity|comments|notifications|presets|revisions|sessions|versions)$/;

const HIDDEN = /^(?:draft|archived)$/i;

/**
 * Directus signs nothing: a token in a header. A flow (https://directus.io/docs/guides/automate/triggers) sends its
 * `$trigger`, either bare or under `trigger` beside the `user`. Every change of an item publishes, except a new draft.
 */
export function directusSource(settings: TokenSettings): WebhookSource {
  return withToken(settings, (_request, body, delivery) => {
    const trigger = field(body, 'trigger') ?? body;
    // A flow that a person starts by hand has the request of the Data Studio in its place.
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
        source: 'directus',
        topic,
        // An update carries what changed: a status among it that hides the item takes it from the site.
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
  });
}

/** A flow writes these words into its request where nobody was signed in. */
const NOBODY = new Set(['null', 'undefined']);

function userOf(value: unknown): string | undefined {
  const user = firstText(field(value, 'user'), field(value, 'accountability', 'user'));
  return user !== undefined && NOBODY.has(user) ? undefined : user;
}
