import { field, firstText, readInstant, readLink, readText } from '../webhooks/json-fields.ts';
import { pathsOf, published } from '../webhooks/source.ts';
import { tokenSource } from '../webhooks/token-source.ts';

/**
 * Payload signs nothing and has no webhooks (https://payloadcms.com/docs/hooks/collections): its hooks send the body of
 * docs/sources/payload.md, or their own arguments, with a token in a header. Documents publish when they are created,
 * changed or deleted; drafts don't.
 */
export const source = tokenSource({
  parse(delivery) {
    const { body } = delivery;
    const doc = field(body, 'doc') ?? body;
    const topic = firstText(field(body, 'operation'), field(body, 'event')) ?? '';
    const status = readText(field(doc, '_status'));
    const removed = /delete/i.test(topic) || firstText(field(doc, 'deletedAt')) !== undefined;
    const previousStatus = firstText(field(body, 'previousStatus'), field(body, 'previousDoc', '_status'));
    if (status === 'draft' && !removed && previousStatus !== 'published') {
      return { kind: 'filtered', topic, why: 'the document is a draft' };
    }
    const url = readLink(field(body, 'url')) ?? readLink(field(doc, 'url'));
    const user = field(body, 'user');
    return published(
      {
        topic,
        // An unpublish looks the same as the first draft of a published document.
        action: removed ? 'unpublish' : status === 'draft' ? 'other' : 'publish',
        id: readText(field(doc, 'id')),
        title: firstText(field(doc, 'title'), field(doc, 'name'), field(doc, 'slug')),
        url,
        author: firstText(user, field(user, 'name'), field(user, 'email'), field(user, 'id')),
        at: removed ? undefined : readInstant(field(doc, 'updatedAt')),
        contentType: firstText(field(body, 'collection'), field(body, 'collection', 'slug'), field(body, 'global')),
        paths: pathsOf(url),
      },
      delivery,
    );
  },

  /** The arguments of an `afterChange` hook. */
  sample: ({ uuid, title, slug, url, at }) => ({
    collection: 'articles',
    operation: 'update',
    doc: {
      id: uuid.replaceAll('-', '').slice(0, 24),
      title,
      slug,
      url,
      _status: 'published',
      createdAt: at.toISOString(),
      updatedAt: at.toISOString(),
    },
    previousDoc: { _status: 'draft' },
  }),
});
