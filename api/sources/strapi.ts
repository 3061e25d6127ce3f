import { field, firstInstant, firstText, readLink } from './json-fields.ts';
import { published } from './published.ts';
import type { WebhookSource } from './source.ts';
import { type TokenSettings, withToken } from './token.ts';

const EVENT_HEADER = 'x-strapi-event';

/** Events after which the published content is as it was. */
const PUBLISHES_NOTHING = new Map([
  ['trigger-test', 'a test that was asked for in Strapi'],
  ['entry.draft-discard', 'a draft was given up'],
  ['review-workflows.updateEntryStage', 'an entry moved to another stage of its review'],
]);

/**
 * Strapi 4 and 5 (https://docs.strapi.io/cms/backend-customization/webhooks) sign nothing: a token in a header. Entries
 * that are published, unpublished or deleted publish, and so do media; an entry that is saved publishes unless it is a draft.
 */
export function strapiSource(settings: TokenSettings): WebhookSource {
  return withToken(settings, ({ header }, body, delivery) => {
    const topic = firstText(field(body, 'event'), header(EVENT_HEADER)) ?? '';
    const filtered = (why: string) => ({ kind: 'filtered', topic, why }) as const;
    const why = PUBLISHES_NOTHING.get(topic);
    if (why !== undefined) return filtered(why);
    const [entry, media, release] = [field(body, 'entry'), field(body, 'media'), field(body, 'release')];
    // Without draft and publish, version 4 leaves `publishedAt` out; null is what a draft has in both.
    if (/^entry\.(?:create|update)$/.test(topic) && field(entry, 'publishedAt') === null) {
      return filtered('the entry is a draft');
    }
    if (topic === 'releases.publish' && field(body, 'isPublished') === false) return filtered('the release failed');
    const content = entry ?? media ?? release;
    const by = field(content, 'updatedBy');
    return published(
      {
        source: 'strapi',
        topic,
        action: /\.(?:unpublish|delete)$/.test(topic) ? 'unpublish' : 'publish',
        id: firstText(field(content, 'documentId'), field(content, 'id')),
        title: firstText(field(content, 'title'), field(content, 'name'), field(content, 'slug')),
        url: readLink(field(content, 'url')),
        author: firstText(field(by, 'username'), field(by, 'firstname'), field(by, 'email'), field(by, 'id')),
        at: firstInstant(field(body, 'createdAt'), field(content, 'updatedAt')),
        contentType: firstText(field(body, 'model'), field(body, 'uid')),
      },
      delivery,
    );
  });
}
