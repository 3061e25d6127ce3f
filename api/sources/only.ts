import picomatch from 'picomatch';
import type { Only } from '../../contract/webhook-sources.ts';
import type { Reading } from './source.ts';

/**
 * The site's own choice among a source's publishes, the same for every sender: a publish that the patterns don't match
 * becomes `filtered`. What a delivery doesn't tell matches.
 */
export function chooseOnly(only: Only | undefined): (reading: Reading) => Reading {
  const matches = {
    topic: matcher(only?.topic),
    contentType: matcher(only?.contentType),
    path: matcher(only?.path, rooted),
  };
  return (reading) => {
    if (reading.kind !== 'publish') return reading;
    const { event, topics = [event.topic], contentType = [], paths = [] } = reading;
    const told = { topic: topics, contentType: [contentType].flat(), path: paths };
    for (const key of ['topic', 'contentType', 'path'] as const) {
      const texts = told[key].filter((text) => text !== '');
      if (texts.length > 0 && !texts.some(matches[key])) {
        return { kind: 'filtered', topic: event.topic, why: `only.${key}` };
      }
    }
    return reading;
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

/** A path matches with and without its leading slash: senders write both. */
function rooted(path: string): string {
  return `/${path.replace(/^\/+/, '')}`;
}

/** Everything but `*` stands for itself: brackets and exclamation marks are letters of a file's name. */
function onlyStars(pattern: string): string {
  return pattern.replace(/[^\w\s*/]/g, '\\$&');
}
