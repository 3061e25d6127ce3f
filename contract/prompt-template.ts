import Mustache from 'mustache';
import { closest } from './closest-word.ts';

/**
 * A mustache template over the events of a prompt. The whole template is checked when the configuration is read, so
 * that a typo doesn't leave a gap in every prompt.
 */

/** The fields of `event`, and of each of `events`. */
export const EVENT_FIELDS = ['source', 'topic', 'action', 'id', 'title', 'url', 'author', 'at'] as const;

/** `event` is the newest, `events` all (oldest first, limited), `eventCount` how many there were. */
const ROOT_NAMES: readonly string[] = ['eventCount', 'events', 'event', ...EVENT_FIELDS.map((name) => `event.${name}`)];

/** These are no text: they open a section. */
const GROUPS: readonly string[] = ['event', 'events'];

/** The names a template may use here. In a section over an event, its fields can be used directly. */
type Scope = { names: readonly string[]; dot: boolean };

type Tokens = ReturnType<typeof Mustache.parse>;

/** What is wrong with a prompt template, in one sentence; null if nothing. */
export function checkPromptTemplate(template: string): string | null {
  let tokens: Tokens;
  try {
    tokens = Mustache.parse(template);
  } catch (error) {
    return `expected a mustache template: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (!tokens.some(saysSomething)) return 'expected a prompt with some text, but nothing would be left of this one';
  return checkTokens(tokens, { names: ROOT_NAMES, dot: false });
}

/** Whether a token can produce text: comments, changes of delimiters and blank text can't. */
function saysSomething([kind, text]: Tokens[number]): boolean {
  return kind === 'text' ? text.trim() !== '' : kind !== '!' && kind !== '=';
}

function checkTokens(tokens: Tokens, scope: Scope): string | null {
  for (const token of tokens) {
    const problem = checkToken(token, scope);
    if (problem !== null) return problem;
  }
  return null;
}

function checkToken(token: Tokens[number], scope: Scope): string | null {
  const [kind, name, , , inner] = token;
  switch (kind) {
    case 'text':
    case '!':
    case '=':
      return null;
    case '>':
      return `expected no {{> ${name} }}: there are no partials in a prompt`;
    case '#':
    case '^': {
      const problem = checkName(name, scope);
      if (problem !== null || !Array.isArray(inner)) return problem;
      return checkTokens(inner, kind === '#' ? scopeOf(name, scope) : scope);
    }
    default: {
      const problem = checkName(name, scope);
      if (problem !== null || !GROUPS.includes(name)) return problem;
      const shown = name === 'event' ? '{{ event.title }}' : '{{#events}}{{ title }}{{/events}}';
      return `{{ ${name} }} is no text: expected one of its fields, such as ${shown}`;
    }
  }
}

function checkName(name: string, scope: Scope): string | null {
  if (name === '.' ? scope.dot : scope.names.includes(name)) return null;
  const near = closest(name, scope.names);
  const hint = near === undefined ? `expected one of ${scope.names.join(', ')}` : `did you mean {{ ${near} }}?`;
  return `unknown variable {{ ${name} }}: ${hint}`;
}

function scopeOf(name: string, outer: Scope): Scope {
  if (GROUPS.includes(name)) return { names: [...new Set([...outer.names, ...EVENT_FIELDS])], dot: false };
  return { ...outer, dot: true };
}
