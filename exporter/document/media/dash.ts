import type { Collector } from '../collector.ts';
import { type Attribute, scanMarkup } from '../html/scan-markup.ts';
import type { SpannedText } from '../spanned-text.ts';
import { UnreadableDocument } from '../unreadable.ts';

/**
 * MPEG-DASH (ISO/IEC 23009-1): a manifest lists its segments, or has templates for their URLs. Segments of templates keep
 * their names, because the template stays.
 */

/** An element. Names are in lower case. */
type Element = {
  name: string;
  attributes: ReadonlyMap<string, Attribute>;
  /** By name. */
  children: Map<string, Element[]>;
  /** The content of a `BaseURL`. */
  text: { span: SpannedText; layer: '' | 'x' } | undefined;
};

const MAX_LEVELS = 50;
const MAX_ELEMENTS = 200_000;
/** Segments of one manifest: a day of video in four qualities. */
const MAX_SEGMENTS = 100_000;

/** Adds the segments of a manifest, and the URLs in it. `source` is latin1. */
export function extractDash(source: string, collector: Collector): void {
  const root: Element = { name: '', attributes: new Map(), children: new Map(), text: undefined };
  readElements(source, root);
  const budget = { segments: MAX_SEGMENTS };
  for (const mpd of childrenOf(root, 'mpd')) {
    const base = baseOf(mpd, collector.url, collector);
    const periods = childrenOf(mpd, 'period');
    const total = secondsOf(textOf(mpd, 'mediapresentationduration'));
    let end = 0;
    for (const [index, period] of periods.entries()) {
      const start = secondsOf(textOf(period, 'start')) ?? end;
      const own = secondsOf(textOf(period, 'duration'));
      end = own === undefined ? (secondsOf(textOf(periods[index + 1], 'start')) ?? total ?? start) : start + own;
      readPeriod(period, { base, seconds: end - start, collector, budget });
    }
  }
}

function readElements(source: string, root: Element): void {
  const open = [root];
  let count = 0;
  scanMarkup(
    source,
    { isOfInterest: () => true, hasText: (name) => name === 'baseurl' },
    {
      tag({ name, attributes, end }) {
        count += 1;
        if (open.length > MAX_LEVELS || count > MAX_ELEMENTS) throw new UnreadableDocument('the manifest is too large');
        const own = new Map(attributes.map((each) => [each.name, each]));
        const element: Element = { name, attributes: own, children: new Map(), text: undefined };
        const siblings = open.at(-1)?.children;
        const sameName = siblings?.get(name);
        if (sameName === undefined) siblings?.set(name, [element]);
        else sameName.push(element);
        if (source[end - 2] !== '/') open.push(element);
      },
      raw({ name }, span, _end, layer) {
        const last = open.at(-1);
        if (last?.name === name) last.text = { span, layer };
      },
      close(name) {
        const at = open.findLastIndex((each) => each.name === name);
        if (at > 0) open.length = at;
      },
    },
  );
}

function childrenOf(element: Element, name: string): readonly Element[] {
  return element.children.get(name) ?? [];
}

function textOf(element: Element | undefined, attribute: string): string | undefined {
  return element?.attributes.get(attribute)?.value.text;
}

function numberOf(element: Element | undefined, attribute: string): number | undefined {
  const value = Number(textOf(element, attribute) ?? Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

const DURATION = /^P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?$/;

/** The seconds of an ISO 8601 duration without months. */
function secondsOf(duration: string | undefined): number | undefined {
  const parts = DURATION.exec(duration ?? '');
  if (parts === null) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

/**
 * The base for URLs in an element: its first `BaseURL`; the others are copies elsewhere. One that is relative to another
 * base stays as it is.
 */
function baseOf(element: Element, base: string, collector: Collector): string {
  const [own, ...copies] = childrenOf(element, 'baseurl').flatMap(({ text }) => text ?? []);
  if (own === undefined) return base;
  for (const { span, layer } of [own, ...copies]) {
    const place = { span, from: 0, to: span.text.length, layers: layer };
    const isFolder = span.text.trim().endsWith('/');
    if (base === collector.url || isAbsolute(span.text)) collector.refer(place, isFolder ? 'folder' : 'asset');
    else if (!isFolder) collector.mention(span.text.trim(), 'probe', base);
  }
  return collector.resolve(own.span.text.trim(), base) ?? base;
}

function isAbsolute(url: string): boolean {
  return /^\s*(?:[a-z][a-z0-9+.-]*:|\/)/i.test(url);
}

type Context = { base: string; collector: Collector; budget: { segments: number } };

function readPeriod(period: Element, context: Context & { seconds: number }): void {
  const { collector, seconds, budget } = context;
  const base = baseOf(period, context.base, collector);
  for (const set of childrenOf(period, 'adaptationset')) {
    const setBase = baseOf(set, base, collector);
    const levels = [period, set];
    for (const representation of childrenOf(set, 'representation')) {
      const own = { base: baseOf(representation, setBase, collector), collector, budget };
      readRepresentation([representation, ...levels.toReversed()], seconds, own);
    }
  }
}

/** `levels`: the representation and what it is in, from the innermost out. */
function readRepresentation(levels: readonly Element[], seconds: number, context: Context): void {
  const templates = levels.flatMap((level) => childrenOf(level, 'segmenttemplate'));
  for (const level of levels) {
    for (const list of childrenOf(level, 'segmentlist')) referAll(list, context);
    for (const segments of childrenOf(level, 'segmentbase')) referAll(segments, context);
  }
  if (templates.length > 0) referTemplates(templates, levels[0], seconds, context);
}

const LISTED: ReadonlySet<string> = new Set(['media', 'index', 'sourceurl']);

/** The URLs of listed segments, initializations and indexes. */
function referAll(element: Element, context: Context): void {
  for (const child of [element, ...[...element.children.values()].flat()]) {
    for (const attribute of child.attributes.values()) {
      if (LISTED.has(attribute.name)) referSegment(attribute, context);
    }
  }
}

function referSegment({ value, layer }: Attribute, { base, collector, budget }: Context): void {
  const { text } = value;
  budget.segments -= 1;
  if (budget.segments < 0) return;
  if (base !== collector.url && !isAbsolute(text)) collector.mention(text, 'probe', base);
  else collector.refer({ span: value, from: 0, to: text.length, layers: layer }, 'asset');
}

function referTemplates(
  templates: readonly Element[],
  representation: Element | undefined,
  seconds: number,
  context: Context,
): void {
  const inherited = (name: string) => templates.find((each) => each.attributes.has(name))?.attributes.get(name);
  const number = (name: string) =>
    numberOf(
      templates.find((each) => each.attributes.has(name)),
      name,
    );
  const values = {
    RepresentationID: textOf(representation, 'id') ?? '',
    Bandwidth: textOf(representation, 'bandwidth') ?? '',
  };
  const { collector, base, budget } = context;
  const mention = (template: Attribute | undefined, own: Record<string, string | number> = {}): void => {
    if (template === undefined) return;
    collector.mention(filled(template.value.text, { ...values, ...own }), 'probe', base);
  };
  const [initialization, media] = ['initialization', 'media'].map(inherited);
  for (const template of [initialization, media]) if (template !== undefined) referFolder(template, context);
  mention(initialization);
  const [timeline] = templates.flatMap((each) => childrenOf(each, 'segmenttimeline'));
  const timescale = number('timescale') ?? 1;
  const first = number('startnumber') ?? 1;
  const ticks = seconds * timescale;
  const times =
    timeline === undefined
      ? timesOf(number('duration'), ticks, (number('endnumber') ?? Number.POSITIVE_INFINITY) - first + 1)
      : timesIn(timeline, ticks + (number('presentationtimeoffset') ?? 0));
  let index = first;
  for (const time of times) {
    budget.segments -= 1;
    if (budget.segments < 0) return;
    mention(media, { Number: index, Time: time });
    index += 1;
  }
}

/** The part of a template that is the same in all its URLs, if it must be rewritten. */
function referFolder({ value, layer }: Attribute, { base, collector }: Context): void {
  const [fixed = ''] = value.text.split('$', 1);
  const to = fixed.lastIndexOf('/') + 1;
  if (!isAbsolute(value.text) || to === 0 || collector.resolve(fixed.slice(0, to), base) === undefined) return;
  if (/^\s*\/(?!\/)/.test(fixed) && collector.leavesSite(base)) return;
  collector.refer({ span: value, from: 0, to, layers: layer }, 'folder');
}

function* timesOf(duration: number | undefined, ticks: number, maxCount: number): Generator<number> {
  if (duration === undefined || duration <= 0) return;
  const count = Math.min(Math.ceil(ticks / duration), maxCount);
  for (let index = 0; index < count; index += 1) yield index * duration;
}

/** The start of each segment of a timeline. A negative repeat count lasts until the next entry or the end. */
function* timesIn(timeline: Element, end: number): Generator<number> {
  const entries = childrenOf(timeline, 's');
  let time = 0;
  for (const [index, entry] of entries.entries()) {
    time = numberOf(entry, 't') ?? time;
    const duration = numberOf(entry, 'd') ?? 0;
    if (duration <= 0) return;
    const repeat = numberOf(entry, 'r') ?? 0;
    const until = numberOf(entries[index + 1], 't') ?? end;
    const count = repeat < 0 ? Math.ceil((until - time) / duration) : repeat + 1;
    for (let left = count; left > 0; left -= 1) {
      yield time;
      time += duration;
    }
  }
}

const IDENTIFIER = /\$(?:(RepresentationID|Number|Bandwidth|Time)(?:%0(\d{1,2})d)?)?\$/g;

function filled(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(IDENTIFIER, (_, name: string | undefined, width = '1') =>
    name === undefined ? '$' : String(values[name]).padStart(Number(width), '0'),
  );
}
