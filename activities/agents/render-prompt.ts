import Mustache from 'mustache';
import { MAX_PROMPT_CHARACTERS } from '../../contract/admin-api.ts';
import { cutText } from '../../contract/cut-text.ts';
import { EVENT_FIELDS } from '../../contract/prompt-template.ts';
import type { PublishEvent } from '../../contract/publish-event.ts';

/** A prompt is text for an agent: nothing in it is HTML. */
const options = { escape: String } as const;

type Tokens = ReturnType<typeof Mustache.parse>;

/**
 * Fills in a rule's template. Values are data: what looks like a tag in one stays what it is, and neither partials nor
 * functions can be reached. A prompt that would be longer than the Admin API takes loses the oldest of `events` first,
 * then its end, and says so in its last line.
 * @param eventCount how many events there were; at least those in `events`, oldest first.
 */
export function renderPrompt(template: string, events: readonly PublishEvent[], eventCount: number): string {
  const tellable = fitting(template, events, eventCount);
  const whole = render(template, events, tellable, eventCount);
  const leftOut = eventCount - tellable;
  // A template that tells of no list of events has left nothing out.
  const note =
    leftOut > 0 && listsEvents(Mustache.parse(template)) ? `\n\n(${leftOut} older events are not listed here.)` : '';
  if (whole.length + note.length <= MAX_PROMPT_CHARACTERS) return whole + note;
  const cutNote = `\n\n(Cut: the text was ${whole.length} characters long.)`;
  return cutText(whole, MAX_PROMPT_CHARACTERS - note.length - cutNote.length) + note + cutNote;
}

/** How many of the newest events can be listed: all, or as many as leave the prompt and a note within its bounds. */
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

/** Only what a prompt may name, each a text: an event's other fields are ours. */
function fieldsOf(event: PublishEvent): object {
  return bare(Object.fromEntries(EVENT_FIELDS.map((name) => [name, event[name]])));
}

/** Without what every object inherits: mustache would find `constructor` there, and call it. */
function bare(fields: object): object {
  return Object.assign(Object.create(null), fields);
}

function listsEvents(tokens: Tokens): boolean {
  return tokens.some(
    ([kind, name, , , inner]) => (kind === '#' && name === 'events') || (Array.isArray(inner) && listsEvents(inner)),
  );
}
