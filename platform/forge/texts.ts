import { cutText } from '../../contract/cut-text.ts';
import { storableText } from '../store/storable-text.ts';

/** The limit of the strictest forge, Gitea. */
const TITLE_LENGTH = 250;
/** GitHub's limit. */
const BODY_LENGTH = 65_536;

/** A title is one line; a longer one is cut instead of rejected. */
export function titleText(title: string): string {
  return cut(storableText(title).replaceAll(/\s+/g, ' ').trim(), TITLE_LENGTH) || 'Untitled';
}

export function bodyText(body: string): string {
  return cut(storableText(body).replaceAll(/\r\n?/g, '\n').trim(), BODY_LENGTH);
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${cutText(text, length - 1)}…`;
}
