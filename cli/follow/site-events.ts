import type { ExportRecord, SiteState } from '../../contract/site-state.ts';
import { ACTION_WORDS, DELIVERY_WORDS, OUTCOME_WORDS, TRIGGER_WORDS } from '../../contract/site-words.ts';
import { formatCount, formatDuration } from '../../ui/format.ts';
import { plain } from '../output.ts';
import { localTime } from '../table.ts';

/** Something that happened at a site, in the words of its page. */
export interface SiteEvent {
  at: string;
  text: string;
  /** The export that it belongs to; null if it belongs to none. */
  exportNumber: number | null;
}

/** With the local time, on one line. */
export function eventLine({ at, text }: Pick<SiteEvent, 'at' | 'text'>): string {
  return `${localTime(at)}  ${text}`;
}

type Histories = { [Key in 'deliveries' | 'exports' | 'refreshes' | 'actions']?: SiteState[Key] | undefined };

/** All that a site's histories hold, oldest first. */
export function siteEvents({ deliveries = [], exports = [], refreshes = [], actions = [] }: Histories): SiteEvent[] {
  const events: SiteEvent[] = [
    ...deliveries.map(({ at, source, id, title, author, outcome, why, exportNumber = null }) => ({
      at,
      text: `${DELIVERY_WORDS[outcome]}: ${title ?? id}${author ? ` by ${author}` : ''} (${source})${why ? `: ${why}` : ''}`,
      exportNumber,
    })),
    ...exports.toReversed().flatMap(exportEvents),
    ...refreshes.map(({ at, error }) => ({
      at,
      text: error === null ? 'Link refreshed' : `Refresh failed: ${error}`,
      exportNumber: null,
    })),
    ...actions.map(({ at, actor, action, detail, error }) => ({
      at,
      text: `${ACTION_WORDS[action]}${detail === null ? '' : ` ${detail}`} by ${actor}${error === null ? '' : `: ${error}`}`,
      exportNumber: null,
    })),
  ];
  return events
    .filter(({ at }) => !Number.isNaN(Date.parse(at)))
    .map((each) => ({ ...each, text: plain(each.text) }))
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

function exportEvents(record: ExportRecord): SiteEvent[] {
  const { number, startedAt, exportedAt, endedAt, writtenAt, servedAt, rolledBackAt, outcome, error } = record;
  const { version, pageCount, publishCount, title, trigger } = record;
  const name = `Export ${number}`;
  const more = publishCount > 1 ? ` and ${publishCount - 1} more` : '';
  const took = exportedAt === null ? '' : ` in ${formatDuration(Date.parse(exportedAt) - Date.parse(startedAt))}`;
  const size = pageCount === null ? '' : `, ${formatCount(pageCount, 'page')}`;
  const happened: [at: string | null, text: string][] = [
    [startedAt, `${name} started: ${title ?? TRIGGER_WORDS[trigger]}${more}`],
    [exportedAt, `${name} exported${took}${size}${version === null ? '' : `: version ${version}`}`],
    [writtenAt, `${name} written`],
    [servedAt, `${name} served`],
    [rolledBackAt, `${name} rolled back`],
  ];
  const ended = outcome !== null && outcome !== 'served' && outcome !== 'written';
  if (ended) happened.push([endedAt, `${name}: ${OUTCOME_WORDS[outcome]}${error === null ? '' : `: ${error}`}`]);
  return happened.flatMap(([at, text]) => (at === null ? [] : [{ at, text, exportNumber: number }]));
}
