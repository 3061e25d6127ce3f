import type { PublishEvent } from '../../contract/publish-event.ts';
import type { Delivery, Reading } from './source.ts';

type Told = Pick<PublishEvent, 'source' | 'topic' | 'action'> & {
  [Key in 'id' | 'title' | 'url' | 'author' | 'at']?: string | undefined;
} & Pick<Extract<Reading, { kind: 'publish' }>, 'topics' | 'contentType' | 'paths'>;

/**
 * A publish from what its sender told. What it left out is the delivery's id for the id, the id for the title, the time
 * of receipt for the time, and empty for the rest.
 */
export function published(told: Told, { id: deliveryId, receivedAt }: Delivery): Reading {
  const { source, topic, action, id = deliveryId, topics, contentType, paths } = told;
  const { title = id, url = '', author = '', at = receivedAt.toISOString() } = told;
  return {
    kind: 'publish',
    ...(topics !== undefined && { topics }),
    ...(contentType !== undefined && { contentType }),
    ...(paths !== undefined && { paths }),
    event: { source, topic, action, id, title, url, author, at },
  };
}

/**
 * The path of a page's address. Undefined where the address has a query: that is how WordPress names a page that isn't
 * public, and its path says nothing then.
 */
export function pathsOf(link: string | undefined): readonly string[] | undefined {
  if (link === undefined || !URL.canParse(link)) return undefined;
  const { pathname, search } = new URL(link);
  return search === '' ? [pathname] : undefined;
}
