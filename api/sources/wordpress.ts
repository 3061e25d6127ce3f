import { field, firstInstant, firstText, readLink, readText } from './json-fields.ts';
import { pathsOf, published } from './published.ts';
import type { WebhookSource } from './source.ts';
import { type TokenSettings, withToken } from './token.ts';

/** The plugin WP Webhooks names its trigger here. */
const TRIGGER_HEADER = 'x-wp-webhook-name';

/** States of a post that visitors don't see; WooCommerce's products are posts, too. Any other state is taken for visible. */
export const HIDDEN = new Set(['draft', 'auto-draft', 'pending', 'private', 'future', 'trash']);

/** What WordPress keeps as posts and no page shows. */
const RECORDS = new Set(['revision', 'customize_changeset', 'oembed_cache', 'user_request']);

/**
 * WordPress signs nothing: a token in a header. The posts come as the plugin WP Webhooks writes them, and the small
 * plugin of docs/sources/wordpress.md writes them alike. What visitors see, or saw until now, publishes.
 */
export function wordpressSource(settings: TokenSettings): WebhookSource {
  return withToken(settings, ({ header }, body, delivery) => {
    const post = field(body, 'post') ?? body;
    const topic = firstText(field(body, 'event'), header(TRIGGER_HEADER)) ?? '';
    const filtered = (why: string) => ({ kind: 'filtered', topic, why }) as const;
    const type = firstText(field(post, 'post_type'), field(post, 'type'));
    if (RECORDS.has(type ?? '')) return filtered('a record of WordPress itself');
    const status = firstText(field(post, 'post_status'), field(post, 'status')) ?? '';
    const before = readText(field(body, 'post_before', 'post_status'));
    const deleted = /delete/.test(topic);
    if (wasHiddenBefore(topic, status, before)) return filtered(`the post is not published: ${status}`);
    const url = addressOf(firstText(field(body, 'post_permalink'), field(post, 'link')));
    return published(
      {
        source: 'wordpress',
        topic,
        action: deleted || HIDDEN.has(status) || /trash/.test(topic) ? 'unpublish' : 'publish',
        id: firstText(field(post, 'ID'), field(body, 'post_id'), field(post, 'id')),
        title: firstText(field(post, 'post_title'), field(post, 'title', 'rendered'), field(post, 'title')),
        url,
        author: firstText(field(body, 'author'), field(post, 'post_author'), field(post, 'author')),
        at: deleted ? undefined : firstInstant(field(post, 'post_modified_gmt'), field(post, 'post_date_gmt')),
        contentType: type,
        paths: pathsOf(url),
      },
      delivery,
    );
  });
}

/** Whether visitors didn't see the post before either. Where that isn't told, only a new or deleted draft is sure. */
function wasHiddenBefore(topic: string, status: string, before: string | undefined): boolean {
  if (status === 'auto-draft') return true;
  if (!HIDDEN.has(status)) return false;
  if (before !== undefined) return HIDDEN.has(before) || before === 'new';
  // A post in the bin was visible until it came there, and the bin's own webhook may not be set up.
  return /create|delete/.test(topic) && status !== 'trash';
}

/** WordPress marks the address of a post in the bin; the page that goes away is the one without the mark. */
function addressOf(link: string | undefined): string | undefined {
  return readLink(link?.replace(/__trashed(?:-\d+)?(\/?)$/, '$1'));
}
