import type { PublishEvent } from '../../contract/publish-event.ts';
import type { Delivery, ParsedDelivery } from './source.ts';

type Fields = Pick<PublishEvent, 'topic' | 'action'> & {
  [Key in 'id' | 'title' | 'url' | 'author' | 'at']?: string | undefined;
} & Pick<Extract<ParsedDelivery, { kind: 'publish' }>, 'topics' | 'contentType' | 'paths'>;

/**
 * A publish from the fields that the sender sent. Defaults: the delivery's id for the id, the id for the title, the time
 * of receipt for the time, and an empty text for the rest.
 */
export function published(fields: Fields, { id: deliveryId, receivedAt }: Delivery): ParsedDelivery {
  const { topic, action, id = deliveryId, topics, contentType, paths } = fields;
  const { title = id, url = '', author = '', at = receivedAt.toISOString() } = fields;
  return {
    kind: 'publish',
    ...(topics !== undefined && { topics }),
    ...(contentType !== undefined && { contentType }),
    ...(paths !== undefined && { paths }),
    event: { topic, action, id, title, url, author, at },
  };
}

/**
 * The path of a page's URL, as a list. Undefined if the URL has a query: WordPress uses one for a page that isn't public,
 * and its path says nothing then.
 */
export function pathsOf(link: string | undefined): readonly string[] | undefined {
  if (link === undefined || !URL.canParse(link)) return undefined;
  const { pathname, search } = new URL(link);
  return search === '' ? [pathname] : undefined;
}
