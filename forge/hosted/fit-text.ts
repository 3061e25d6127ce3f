import { cutText } from '../../contract/cut-text.ts';

/** The limit is 256 characters on GitHub, 255 on Gitea. */
const MAX_TITLE_LENGTH = 255;

/** GitHub's limit is 65,536 characters. */
const MAX_BODY_LENGTH = 65_000;

/** A title for any forge: one line, no control characters, cut if too long. */
export function fitTitle(title: string): string {
  return cut(title.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim(), MAX_TITLE_LENGTH);
}

/** A text for any forge: without NUL, which their databases can't store, and cut if too long. */
export function fitBody(body: string): string {
  return cut(body.replaceAll('\0', ''), MAX_BODY_LENGTH);
}

/** Limits the length in UTF-16 units, as the strictest forge counts. */
function cut(text: string, maxLength: number): string {
  const whole = text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
  return whole.length <= maxLength ? whole : `${cutText(whole, maxLength - 1)}…`;
}
