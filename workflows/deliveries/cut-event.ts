import { cutText } from '../../contract/cut-text.ts';
import type { PublishEvent } from '../../contract/publish-event.ts';

/** Past this a text of an event is cut: titles and addresses are shorter, and what is carried has to stay small. */
const MAX_TEXT = 500;

/** An event with its texts cut, to be remembered. */
export function cutEvent(event: PublishEvent): PublishEvent {
  const { source, topic, action, id, title, url, author, at } = event;
  return {
    action,
    source: cutText(source, MAX_TEXT),
    topic: cutText(topic, MAX_TEXT),
    id: cutText(id, MAX_TEXT),
    title: cutText(title, MAX_TEXT),
    url: cutText(url, MAX_TEXT),
    author: cutText(author, MAX_TEXT),
    at: cutText(at, MAX_TEXT),
  };
}
