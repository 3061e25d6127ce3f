import type { PublishEvent } from '../../contract/publish-event.ts';

/** Past this a text of an event is cut: titles and addresses are shorter, and what is carried has to stay small. */
const MAX_TEXT = 500;

/** An event with its texts cut, to be remembered. No character is cut in half. */
export function cutEvent(event: PublishEvent): PublishEvent {
  const { source, topic, action, id, title, url, author, at } = event;
  return {
    action,
    source: short(source),
    topic: short(topic),
    id: short(id),
    title: short(title),
    url: short(url),
    author: short(author),
    at: short(at),
  };
}

/** The beginning of a text, of at most so many UTF-16 units. */
export function short(text: string, limit = MAX_TEXT): string {
  const cut = text.slice(0, limit);
  // The first half of a pair alone is no character, and no payload can carry it unchanged.
  return cut.length < text.length && /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}
