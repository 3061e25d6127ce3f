import { cutText } from '../../contract/cut-text.ts';
import { storableText } from '../store/storable-text.ts';

/** What every forge takes, Gitea's 255 included. */
const TITLE_LENGTH = 250;
/** As much as GitHub takes. */
const BODY_LENGTH = 65_536;

/** A title is one line; what is too long ends in an ellipsis rather than in a refusal. */
export function titleText(title: string): string {
  return cut(storableText(title).replaceAll(/\s+/g, ' ').trim(), TITLE_LENGTH) || 'Untitled';
}

export function bodyText(body: string): string {
  return cut(storableText(body).replaceAll(/\r\n?/g, '\n').trim(), BODY_LENGTH);
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${cutText(text, length - 1)}…`;
}
