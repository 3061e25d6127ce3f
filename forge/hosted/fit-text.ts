import { cutText } from '../../contract/cut-text.ts';

/** GitHub refuses titles past 256 characters, Gitea past 255. */
const MAX_TITLE_LENGTH = 255;

/** GitHub refuses texts past 65,536 characters. */
const MAX_BODY_LENGTH = 65_000;

/** A title that every forge takes: one line, no control characters, cut where it is too long. */
export function fitTitle(title: string): string {
  return cut(title.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim(), MAX_TITLE_LENGTH);
}

/** A text that every forge takes: without NUL, which no database of theirs stores, and cut where it is too long. */
export function fitBody(body: string): string {
  return cut(body.replaceAll('\0', ''), MAX_BODY_LENGTH);
}

/** By UTF-16 units, as the strictest counts. */
function cut(text: string, maxLength: number): string {
  const whole = text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
  return whole.length <= maxLength ? whole : `${cutText(whole, maxLength - 1)}…`;
}
