import { z } from 'zod';
import { field, firstInstant, firstText, readLink } from '../webhooks/json-fields.ts';
import { published } from '../webhooks/source.ts';
import { tokenSource } from '../webhooks/token-source.ts';

const EVENT_HEADER = 'x-strapi-event';

/** Events that don't change the published content. */
const PUBLISHES_NOTHING = new Map([
  ['trigger-test', 'a test that was requested in Strapi'],
  ['entry.draft-discard', 'a draft was given up'],
  ['review-workflows.updateEntryStage', 'an entry moved to another stage of its review'],
]);

const named = z.object({ event: z.string().regex(/^[\w.-]+$/) });

/**
 * Strapi 4 and 5 (https://docs.strapi.io/cms/backend-customization/webhooks) sign nothing: a token in a header. Entries
 * publish when they are published, unpublished or deleted, or saved without being a draft; media publish always.
 */
export const source = tokenSource({
  parse(delivery) {
    const { body, header } = delivery;
    const topic = firstText(field(body, 'event'), header(EVENT_HEADER)) ?? '';
    const filtered = (why: string) => ({ kind: 'filtered', topic, why }) as const;
    const why = PUBLISHES_NOTHING.get(topic);
    if (why !== undefined) return filtered(why);
    const [entry, media, release] = [field(body, 'entry'), field(body, 'media'), field(body, 'release')];
    // A draft has null here. Content types without drafts have no `publishedAt` in version 4.
    if (/^entry\.(?:create|update)$/.test(topic) && field(entry, 'publishedAt') === null) {
      return filtered('the entry is a draft');
    }
    if (topic === 'releases.publish' && field(body, 'isPublished') === false) return filtered('the release failed');
    const content = entry ?? media ?? release;
    const by = field(content, 'updatedBy');
    return published(
      {
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
  },

  sample({ number, uuid, title, slug, url, at }) {
    const time = at.toISOString();
    return {
      event: 'entry.publish',
      createdAt: time,
      model: 'article',
      uid: 'api::article.article',
      entry: {
        id: number,
        documentId: uuid.replaceAll('-', '').slice(0, 24),
        title,
        slug,
        url,
        locale: 'en',
        createdAt: time,
        updatedAt: time,
        publishedAt: time,
      },
    };
  },

  eventHeaders: (json) => ({ [EVENT_HEADER]: named.safeParse(json).data?.event ?? 'entry.publish' }),
});
