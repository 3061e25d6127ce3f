import { cutText } from '../../contract/cut-text.ts';
import type { PublishEvent } from '../../contract/publish-event.ts';

/** Titles and URLs are usually shorter. */
const MAX_TEXT = 500;

/** Bounds the texts of an event, because it becomes part of a workflow's input. */
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
