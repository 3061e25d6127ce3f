import { createGlob } from '../../base/glob.ts';
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
