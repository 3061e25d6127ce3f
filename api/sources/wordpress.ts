import { field, firstInstant, firstText, readLink, readText } from '../webhooks/json-fields.ts';
import { pathsOf, published } from '../webhooks/source.ts';
import { tokenSource } from '../webhooks/token-source.ts';

/** The plugin WP Webhooks sends the name of its trigger here. */
const TRIGGER_HEADER = 'x-wp-webhook-name';

/** States of a post (and of WooCommerce's products, which are posts) that visitors don't see. Others count as visible. */
export const HIDDEN = new Set(['draft', 'auto-draft', 'pending', 'private', 'future', 'trash']);

/** Types of posts that no page shows. */
const RECORDS = new Set(['revision', 'customize_changeset', 'oembed_cache', 'user_request']);

/**
 * WordPress signs nothing and leaves webhooks to plugins: a token in a header, and a post as the plugin WP Webhooks or
 * the small plugin of docs/sources/wordpress.md sends it. A post that visitors see, or saw until now, publishes.
 */
export const source = tokenSource({
  parse(delivery) {
    const { body, header } = delivery;
    const post = field(body, 'post') ?? body;
    const topic = firstText(field(body, 'event'), header(TRIGGER_HEADER)) ?? '';
    const filtered = (why: string) => ({ kind: 'filtered', topic, why }) as const;
    const type = firstText(field(post, 'post_type'), field(post, 'type'));
    if (RECORDS.has(type ?? '')) return filtered('a record of WordPress itself');
    const status = firstText(field(post, 'post_status'), field(post, 'status')) ?? '';
    const before = readText(field(body, 'post_before', 'post_status'));
    const deleted = /delete/.test(topic);
    if (wasHiddenBefore(topic, status, before)) return filtered(`the post is not published: ${status}`);
    const url = publicUrl(firstText(field(body, 'post_permalink'), field(post, 'link')));
    return published(
      {
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
  },

  /** WP Webhooks sends the post as it is in the database. */
  sample({ number, title, slug, url, author, at }) {
    const time = at.toISOString().slice(0, 19).replace('T', ' ');
    return {
      post_id: number,
      post: {
        ID: number,
        post_author: author,
        post_date: time,
        post_date_gmt: time,
        post_modified: time,
        post_modified_gmt: time,
        post_title: title,
        post_name: slug,
        post_status: 'publish',
        post_type: 'post',
        guid: url,
      },
      post_permalink: url,
    };
  },

  eventHeaders: () => ({ [TRIGGER_HEADER]: 'post_update' }),
});

/** Whether the post was hidden before, too. If the previous state is missing, only a new or deleted draft surely was. */
function wasHiddenBefore(topic: string, status: string, before: string | undefined): boolean {
  if (status === 'auto-draft') return true;
  if (!HIDDEN.has(status)) return false;
  if (before !== undefined) return HIDDEN.has(before) || before === 'new';
  // A trashed post may have been visible until then, and the webhook for trashing may be missing.
  return /create|delete/.test(topic) && status !== 'trash';
}

/** WordPress marks the URL of a trashed post; the page that goes away has the URL without the mark. */
function publicUrl(link: string | undefined): string | undefined {
  return readLink(link?.replace(/__trashed(?:-\d+)?(\/?)$/, '$1'));
}
