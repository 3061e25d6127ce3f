import { field, firstText, readInstant, readLink, readText } from './json-fields.ts';
import { pathsOf, published } from './published.ts';
import type { WebhookSource } from './source.ts';
import { type TokenSettings, withToken } from './token.ts';

/**
 * Payload signs nothing and has no webhooks: its hooks send what docs/sources/payload.md lets them send, with a token in
 * a header, or their own arguments as they are. A document that is created, changed or deleted publishes; a draft doesn't.
 */
export function payloadSource(settings: TokenSettings): WebhookSource {
  return withToken(settings, (_request, body, delivery) => {
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
        source: 'payload',
        topic,
        // Payload tells an unpublish and a first draft beside a published document by the same two states.
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
  });
}
