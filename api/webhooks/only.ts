import picomatch from 'picomatch';
import type { Only } from '../../contract/webhook-settings.ts';
import type { ParsedDelivery } from './source.ts';

/**
 * The site's setting `only`, which works alike for every source: a publish that its patterns don't match becomes
 * `filtered`. A value that the delivery lacks matches.
 */
export function createOnlyFilter(only: Only | undefined): (parsed: ParsedDelivery) => ParsedDelivery {
  const matches = {
    topic: matcher(only?.topic),
    contentType: matcher(only?.contentType),
    path: matcher(only?.path, withLeadingSlash),
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

type Normalize = (text: string) => string;

function matcher(patterns: readonly string[] | undefined, normalize: Normalize = (text) => text) {
  if (patterns === undefined) return () => true;
  const matches = picomatch(
    patterns.map((pattern) => onlyStars(normalize(pattern))),
    { dot: true, nocase: true },
  );
  return (text: string): boolean => matches(normalize(text));
}

/** Senders and settings write a path with or without its leading slash. */
function withLeadingSlash(path: string): string {
  return `/${path.replace(/^\/+/, '')}`;
}

/** Escapes everything but `*`: file names may contain brackets and exclamation marks. */
function onlyStars(pattern: string): string {
  return pattern.replace(/[^\w\s*/]/g, '\\$&');
}
