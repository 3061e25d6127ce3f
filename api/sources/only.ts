import picomatch from 'picomatch';
import type { Only } from '../../contract/webhook-sources.ts';
import type { Reading } from './source.ts';

/**
 * The site's own choice among a source's publishes, the same for every sender: a publish that the patterns don't match
 * becomes `filtered`. What a delivery doesn't tell matches.
 */
export function chooseOnly(only: Only | undefined): (reading: Reading) => Reading {
  const matches = { topic: matcher(only?.topic), contentType: matcher(only?.contentType), path: matcher(only?.path) };
  return (reading) => {
    if (reading.kind !== 'publish') return reading;
    const { event, topics, contentType, paths } = reading;
    const told = {
      topic: topics ?? [event.topic],
      contentType: contentType === undefined ? [] : [contentType].flat(),
      path: paths ?? [],
    };
    for (const key of ['topic', 'contentType', 'path'] as const) {
      if (told[key].length === 0 || told[key].some(matches[key])) continue;
      return { kind: 'filtered', topic: event.topic, why: `only.${key}` };
    }
    return reading;
  };
}

/** A path matches with and without its leading slash: senders write both. */
function matcher(patterns: readonly string[] | undefined): (text: string) => boolean {
  if (patterns === undefined) return () => true;
  const matches = picomatch(patterns.map(withoutSlash), { dot: true, nocase: true });
  return (text) => matches(withoutSlash(text));
}

function withoutSlash(text: string): string {
  return text.replace(/^\/+/, '');
}
