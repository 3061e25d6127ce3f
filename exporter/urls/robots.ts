/** The product token of our groups in robots.txt, and of rules in a page that name us. */
export const ROBOTS_AGENT = 'galley';

/**
 * robots.txt by RFC 9309: the group of the most specific agent applies (otherwise `*`), the longest matching rule wins,
 * and Allow wins a tie; `*` and a final `$` are patterns. `Crawl-delay` isn't part of the RFC and is read as most
 * crawlers do: the seconds between two requests, per group.
 */
export type Robots = {
  /** Whether the path with its query (`/a/b?c`) may be requested. */
  isAllowed(path: string): boolean;
  /** The minimum delay between requests, at most `MAX_CRAWL_DELAY_MS`; 0 if none is set. */
  crawlDelayMs: number;
  /** The `Sitemap:` lines, absolute URLs as written. */
  sitemaps: readonly string[];
};

type Rule = { allow: boolean; length: number; matches: (path: string) => boolean };
type Group = { agents: string[]; rules: Rule[]; delayMs: number };

/** RFC 9309 requires at least 500 KiB. */
export const MAX_ROBOTS_CHARACTERS = 512 * 1024;

/** The longest delay between pages. With a longer one, an export would take more than a day. */
const MAX_CRAWL_DELAY_MS = 30_000;

/** Characters that mean the same with and without an escape (RFC 3986). */
const UNRESERVED = /[\w.~-]/;

/** Uses the same escapes on both sides: only those that `URL` would use, in upper case. */
function canonical(path: string): string {
  try {
    return encodeURI(path).replace(/%25([0-9a-f]{2})/gi, (_, hex: string) => {
      const plain = String.fromCharCode(Number.parseInt(hex, 16));
      return UNRESERVED.test(plain) ? plain : `%${hex.toUpperCase()}`;
    });
  } catch {
    return path;
  }
}

/** `*` and `$` as they stand in a URL. In a rule they have a meaning, so it has their escapes. */
function literal(text: string): string {
  return text.replaceAll('*', '%2A').replaceAll('$', '%24');
}

/** The name in a line such as `User-agent: Galley/1.0`; `*` stays. */
function productToken(agent: string): string {
  return /^[a-z_-]+/.exec(agent.toLowerCase())?.[0] ?? agent.toLowerCase();
}

function readRule(allow: boolean, value: string): Rule | undefined {
  // An empty Disallow allows everything, as if there were no rule.
  if (value === '') return undefined;
  const anchored = value.endsWith('$');
  const parts = canonical(anchored ? value.slice(0, -1) : value)
    .split('*')
    .map(literal);
  return { allow, length: value.length, matches: (path) => matchesParts(path, parts, anchored) };
}

/** Matches each part at its earliest position, which is linear: a pattern of many stars can't slow it down. */
function matchesParts(path: string, parts: readonly string[], anchored: boolean): boolean {
  const [first = '', ...rest] = parts;
  if (!path.startsWith(first)) return false;
  let from = first.length;
  for (const [index, part] of rest.entries()) {
    if (anchored && index === rest.length - 1) return path.length - part.length >= from && path.endsWith(part);
    const at = path.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return !anchored || from === path.length;
}

function readGroups(lines: ReadonlyArray<readonly [string, string]>): Group[] {
  const groups: Group[] = [];
  let current: Group | undefined;
  let namingAgents = false;
  let isDelayed = false;
  for (const [field, value] of lines) {
    if (field === '') {
      // By the RFC unknown lines don't end a group, but after a delay and an empty line a new agent means a new group.
      if (isDelayed) namingAgents = false;
    } else if (field === 'user-agent') {
      if (current === undefined || !namingAgents) {
        current = { agents: [], rules: [], delayMs: 0 };
        groups.push(current);
        isDelayed = false;
      }
      current.agents.push(productToken(value));
      namingAgents = true;
    } else if (field === 'allow' || field === 'disallow') {
      namingAgents = false;
      const rule = readRule(field === 'allow', value);
      if (rule !== undefined) current?.rules.push(rule);
    } else if (field === 'crawl-delay') {
      isDelayed = true;
      if (current !== undefined) current.delayMs = Math.max(current.delayMs, readDelayMs(value));
    }
  }
  return groups;
}

function readDelayMs(value: string): number {
  if (!/^(?:\d+(?:\.\d*)?|\.\d+)$/.test(value)) return 0;
  return Math.min(MAX_CRAWL_DELAY_MS, Math.round(Number(value) * 1000));
}

/** Parses a robots.txt for one agent, given as its product token in lower case. Never throws. */
export function readRobots(text: string, agent: string): Robots {
  const lines = text
    .slice(0, MAX_ROBOTS_CHARACTERS)
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
    .flatMap((line) => {
      if (line.trim() === '') return [['', ''] as const];
      const [, field, value] = /^\s*([A-Za-z-]+)\s*:\s*([^#]*)/.exec(line) ?? [];
      return field === undefined || value === undefined ? [] : [[field.toLowerCase(), value.trim()] as const];
    });
  const groups = readGroups(lines);
  const named = groups.filter((group) => group.agents.includes(agent));
  const chosen = named.length > 0 ? named : groups.filter((group) => group.agents.includes('*'));
  // Longest first, and Allow before a Disallow of the same length, so that the first match decides.
  const rules = chosen
    .flatMap((group) => group.rules)
    .sort((a, b) => b.length - a.length || Number(b.allow) - Number(a.allow));
  return {
    isAllowed: (path) => {
      const wanted = literal(canonical(path));
      return rules.find((rule) => rule.matches(wanted))?.allow ?? true;
    },
    crawlDelayMs: Math.max(0, ...chosen.map((group) => group.delayMs)),
    sitemaps: lines.filter(([field, value]) => field === 'sitemap' && value !== '').map(([, value]) => value),
  };
}

/** What an export's settings say of its robots.txt. */
export type RobotsSettings = { robots: 'respect' | 'ignore'; robotsTxt: string };

const parsed = new WeakMap<RobotsSettings, Robots>();

/** The rules of an export's robots.txt, parsed once; without rules if the project ignores it. */
export function robotsOf(settings: RobotsSettings): Robots {
  const robots =
    parsed.get(settings) ?? readRobots(settings.robots === 'ignore' ? '' : settings.robotsTxt, ROBOTS_AGENT);
  parsed.set(settings, robots);
  return robots;
}

/** The minimum delay between requests to the site's origin; 0 if robots.txt sets none or the project ignores it. */
export function crawlDelayMs(settings: RobotsSettings): number {
  return robotsOf(settings).crawlDelayMs;
}

/** Rules with a value after a colon; in other lines the colon ends the agent's name. */
const VALUED = /^(?:unavailable_after|max-snippet|max-image-preview|max-video-preview)$/;

function isNofollow(rule: string): boolean {
  return rule === 'nofollow' || rule === 'none';
}

/** Whether `<meta name="robots">`, or one that names Galley, forbids following the page's links. */
export function metaForbidsFollowing(name: string, content: string): boolean {
  if (!/^(?:robots|galley)$/i.test(name.trim())) return false;
  return content
    .toLowerCase()
    .split(/[\s,]+/)
    .some(isNofollow);
}

function lineForbids(line: string): boolean {
  let agent: string | undefined;
  return line
    .toLowerCase()
    .split(',')
    .some((piece) => {
      const [, name = '', rest = ''] = /^\s*([\w-]+)\s*:(.*)$/.exec(piece) ?? [];
      const namesAgent = name !== '' && !VALUED.test(name);
      if (namesAgent) agent = name;
      const rule = (namesAgent ? rest : piece).trim();
      return isNofollow(rule) && (agent === undefined || agent === ROBOTS_AGENT);
    });
}

/** The same for `X-Robots-Tag`, one line or several; `agent: rule, rule` applies to that agent only. */
export function headerForbidsFollowing(header: string | readonly string[] | undefined): boolean {
  if (header === undefined) return false;
  return typeof header === 'string' ? lineForbids(header) : header.some(lineForbids);
}
