import { createGlob } from '../../base/glob.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { PublishEvent } from '../../contract/publish-event.ts';
import type { Only, WebhookSettings, WebhooksSection } from '../../contract/webhook-settings.ts';
import { HttpError } from '../../web/http-error.ts';
import { sourceNamed } from './registry.ts';
import type {
  Delivery,
  LargeBodies,
  ParsedDelivery,
  Rejection,
  StreamVerifier,
  Verification,
  WebhookRequest,
} from './source.ts';

const DAY_MS = 24 * 3_600_000;

/** A parsed delivery whose event names its source. */
export type SourcedDelivery =
  | Exclude<ParsedDelivery, { kind: 'publish' }>
  | (Extract<ParsedDelivery, { kind: 'publish' }> & { event: PublishEvent });

/** A source with the settings of one site. */
export type ConfiguredSource = {
  verify: (request: WebhookRequest, now: Date) => Verification | Promise<Verification>;
  /** Undefined: bodies have at most 1 MiB. */
  large:
    | (Pick<LargeBodies<never>, 'maxBytes' | 'fields'> & {
        startVerifying: (request: Omit<WebhookRequest, 'body'>, now: Date) => StreamVerifier | Rejection;
      })
    | undefined;
  /** Parses a verified delivery and applies the site's `only`. */
  parse: (delivery: Delivery) => SourcedDelivery;
  isPing: ((request: WebhookRequest) => boolean) | undefined;
  /** How long a delivery with the sender's id is a resend, in milliseconds. */
  dedupeMs: number;
  /** The same if the sender sends no ids: only if the site sets it. */
  bodyDedupeMs: number | undefined;
  /** The status of an accepted delivery. */
  answer: 200 | 202;
};

/** Finds a source by the two names in a webhook's URL. Throws HttpError 404 if one of them isn't configured. */
export type FindSource = (site: string, source: string) => ConfiguredSource;

/** The sources of every site. */
export function sourceFinder(config: GalleyConfig): FindSource {
  const bySite = new Map(
    Object.entries(config.sites).map(([site, { webhooks }]) => [site, configuredSources(webhooks)]),
  );
  return (site, source) => {
    const found = bySite.get(site)?.get(source);
    // Never 410, which makes Ghost delete its webhook. The response doesn't say which name is unknown.
    if (found === undefined) throw new HttpError(404, 'no such site or source');
    return found;
  };
}

/** The sources of a site, by the name in the webhook's URL. */
export function configuredSources(webhooks: WebhooksSection): ReadonlyMap<string, ConfiguredSource> {
  return new Map(
    Object.entries(webhooks).flatMap(([name, settings]) =>
      settings === undefined ? [] : [[name, configureSource(name, settings)] as const],
    ),
  );
}

function configureSource(name: string, settings: WebhookSettings): ConfiguredSource {
  const source = sourceNamed(name);
  const secrets = [settings.secret].flat();
  const applyOnly = createOnlyFilter(settings.only);
  const { large } = source;
  return {
    verify: (request, now) => source.verify(request, { settings, secrets, now }),
    large: large && {
      maxBytes: large.maxBytes,
      fields: large.fields,
      startVerifying: (request, now) => large.startVerifying(request, { settings, secrets, now }),
    },
    parse(delivery) {
      const parsed = applyOnly(source.parse(delivery, settings));
      return parsed.kind === 'publish' ? { ...parsed, event: { source: name, ...parsed.event } } : parsed;
    },
    isPing: source.isPing,
    dedupeMs: settings.dedupe ?? source.retryPeriodMs ?? DAY_MS,
    bodyDedupeMs: settings.dedupe,
    answer: settings.answer ?? 202,
  };
}

/**
 * The site's setting `only`, which works alike for every source: a publish that its patterns don't match becomes
 * `filtered`. A value that the delivery lacks matches.
 */
export function createOnlyFilter(only: Only | undefined): (parsed: ParsedDelivery) => ParsedDelivery {
  const matches = {
    topic: matcher(only?.topic),
    contentType: matcher(only?.contentType),
    path: matcher(only?.path, normalizePath),
  };
  return (parsed) => {
    if (parsed.kind !== 'publish') return parsed;
    const { event, topics = [event.topic], contentType = [], paths = [] } = parsed;
    const values = { topic: topics, contentType: [contentType].flat(), path: paths };
    for (const key of ['topic', 'contentType', 'path'] as const) {
      const texts = values[key].filter((text) => text !== '');
      if (texts.length > 0 && !texts.some(matches[key])) {
        return { kind: 'filtered', topic: event.topic, why: `only.${key}` };
      }
    }
    return parsed;
  };
}

function matcher(patterns: readonly string[] | undefined, normalize = (text: string) => text.toLowerCase()) {
  if (patterns === undefined) return () => true;
  const globs = patterns.map((pattern) => createGlob(onlyStars(normalize(pattern))));
  return (text: string): boolean => {
    const normalized = normalize(text);
    return globs.some((matches) => matches(normalized));
  };
}

/** Senders and settings write a path with or without its leading slash. */
function normalizePath(path: string): string {
  return `/${path.replace(/^\/+/, '').toLowerCase()}`;
}

/** File names may contain question marks and backslashes. */
function onlyStars(pattern: string): string {
  return pattern.replace(/[?\\]/g, '\\$&');
}
