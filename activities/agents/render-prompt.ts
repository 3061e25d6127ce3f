import Mustache from 'mustache';
import { MAX_PROMPT_CHARACTERS } from '../../contract/admin-api.ts';
import { cutText } from '../../contract/cut-text.ts';
import { EVENT_FIELDS } from '../../contract/prompt-template.ts';
import type { PublishEvent } from '../../contract/publish-event.ts';

/** A prompt is plain text, so nothing is escaped. */
const options = { escape: String } as const;

type Tokens = ReturnType<typeof Mustache.parse>;

/**
 * Renders a rule's template. Values are data: tags in them aren't read, and partials and functions can't be reached. If
 * the prompt exceeds the Admin API's limit, it loses the oldest of `events` first, then its end, and its last line says
 * so.
 * @param eventCount how many events there were; at least those in `events`, oldest first.
 */
export function renderPrompt(template: string, events: readonly PublishEvent[], eventCount: number): string {
  const fittingCount = fitting(template, events, eventCount);
  const whole = render(template, events, fittingCount, eventCount);
  const leftOut = eventCount - fittingCount;
  // A template that doesn't list events has left none out.
  const note =
    leftOut > 0 && listsEvents(Mustache.parse(template)) ? `\n\n(${leftOut} older events are not listed here.)` : '';
  if (whole.length + note.length <= MAX_PROMPT_CHARACTERS) return whole + note;
  const cutNote = `\n\n(Cut: the text was ${whole.length} characters long.)`;
  return cutText(whole, MAX_PROMPT_CHARACTERS - note.length - cutNote.length) + note + cutNote;
}

/** How many of the newest events fit, with a note, into a prompt. */
function fitting(template: string, events: readonly PublishEvent[], eventCount: number): number {
  const fits = (count: number): boolean =>
    render(template, events, count, eventCount).length <= MAX_PROMPT_CHARACTERS - NOTE_CHARACTERS;
  if (fits(events.length)) return events.length;
  let [most, tooMany] = [1, events.length];
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2);
    if (fits(middle)) most = middle;
    else tooMany = middle;
  }
  return most;
}

/** Room for both notes. */
const NOTE_CHARACTERS = 200;

function render(template: string, events: readonly PublishEvent[], count: number, eventCount: number): string {
  const newest = events.at(-1);
  const view = bare({
    event: newest === undefined ? bare({}) : fieldsOf(newest),
    events: events.slice(Math.max(0, events.length - count)).map(fieldsOf),
    eventCount,
  });
  return Mustache.render(template, view, undefined, options);
}

/** Returns only the documented fields, as text: an event's other fields are internal. */
function fieldsOf(event: PublishEvent): object {
  return bare(Object.fromEntries(EVENT_FIELDS.map((name) => [name, event[name]])));
}

/** A copy without a prototype: mustache would find `constructor` there and call it. */
function bare(fields: object): object {
  return Object.assign(Object.create(null), fields);
}

function listsEvents(tokens: Tokens): boolean {
  return tokens.some(
    ([kind, name, , , inner]) => (kind === '#' && name === 'events') || (Array.isArray(inner) && listsEvents(inner)),
  );
}
