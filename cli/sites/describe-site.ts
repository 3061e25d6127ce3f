import { z } from 'zod';
import { SHOWN_FIELDS, siteState } from '../../contract/site-state.ts';
import { plain, wrap } from '../output.ts';

/** Deliveries that a receiver counted and kept no longer. */
export const rejectedDeliveries = z.object({
  source: z.string(),
  reason: z.string(),
  count: z.number(),
  lastAt: z.string(),
});

/** Parsed loosely, because an api of another release may send more or fewer fields. */
export const siteStatus = siteState
  .extend({ rejected: z.array(rejectedDeliveries) })
  .partial()
  .required({ site: true })
  .loose();
export type ShownSite = z.infer<typeof siteStatus>;

const WORKING: readonly string[] = ['debouncing', 'exporting', 'bundling', 'deploying', 'confirming'];
const INDENT = '  ';
const LABEL_COLUMNS = 14;

/** The state in one or two lines. Lists and results of actions have no exports, refreshes and actions to describe. */
export function describeBriefly(site: ShownSite): string {
  const { phase = 'unknown', version, withheld, deployments = [] } = site;
  const facts = [
    phase,
    version && `version ${version}`,
    progressOf(site),
    withheld && `withholds the newer ${plain(withheld.version ?? 'export')} of ${withheld.exportedAt}`,
    reviewOf(site),
    ...deployments.map(({ held, pin, valuesFile }) => held && `held at ${pin} by ${valuesFile}`),
    ...deployments.map(({ off, valuesFile }) => off && `${valuesFile} is off`),
    errorOf(site),
  ];
  return wrap(`${site.site}: ${facts.filter(Boolean).join(', ')}`, INDENT).slice(INDENT.length);
}

interface Known {
  /** The URLs of deployments, by values file. */
  urls: ReadonlyMap<string, string>;
  now: Date;
}

/** `--json` shows more of them. */
const NEWEST = 10;

/** Everything that an operator looks for, a line each. */
export function describeInFull(site: ShownSite, { urls, now }: Known): string[] {
  const { phase = 'unknown', withheld, deployments = [], exports = [] } = site;
  const deployed = exports.find(({ deployedAt }) => deployedAt !== null);
  const progress = progressOf(site);
  const error = errorOf(site);
  const label = (name: string, value: string | false | null | undefined): string[] =>
    value
      ? [wrap(value, INDENT + ' '.repeat(LABEL_COLUMNS)).replace(/^ +/, `${INDENT}${name.padEnd(LABEL_COLUMNS)}`)]
      : [];
  return [
    `${site.site}: ${phase}`,
    ...label('progress', progress),
    ...SHOWN_FIELDS.flatMap(({ field, label: name }) => label(name.toLowerCase(), shown(site[field]))),
    ...label('withholds', withheld && `the newer ${plain(withheld.version ?? 'export')} of ${withheld.exportedAt}`),
    ...label('review', reviewOf(site)),
    ...label('pages', deployed?.pageCount?.toString()),
    ...label('deployed at', deployed?.deployedAt),
    ...label('served at', deployed?.servedAt),
    ...deployments.flatMap(({ valuesFile, held, pin, off }) => [
      ...label('URL', urls.get(valuesFile)),
      ...label('held', held && `at ${pin} by ${valuesFile}`),
      ...label('off', off && valuesFile),
    ]),
    ...label('error', error?.replace(/^error: /, '')),
    ...label('next try', error && site.nextTryAt && `${site.nextTryAt} (${untilThen(site.nextTryAt, now)})`),
    ...deliveryLines(site),
  ];
}

/** Nothing for what there isn't. */
function shown(value: string | number | null | undefined): string {
  return value ? plain(String(value)) : '';
}

function deliveryLines(site: ShownSite): string[] {
  const deliveries = (site.deliveries ?? []).slice(0, NEWEST).map((delivery) => {
    const { at, source, outcome, topic, workflowId, why } = delivery;
    return [at, source, outcome, topic && plain(topic), workflowId, why && `(${plain(why)})`];
  });
  const rejections = (site.rejected ?? []).map(({ lastAt, source, reason, count }) => {
    return [lastAt, source, 'rejected:', reason, `(${count === 1 ? 'once' : `${count} times`})`];
  });
  const lines = [...deliveries, ...rejections].map((words) => wrap(words.filter(Boolean).join(' '), `${INDENT}  `));
  return lines.length === 0 ? [] : [`${INDENT}deliveries`, ...lines];
}

function reviewOf({ review }: ShownSite): string | undefined {
  if (!review) return undefined;
  const { version, jobId, reasons } = review;
  return `${plain(version ?? jobId)} waits for approve or reject: ${plain(reasons.join('; '))}`;
}

function progressOf({ progress }: ShownSite): string | undefined {
  if (!progress) return undefined;
  const { percent, pageCount } = progress;
  return `${percent === null ? '?' : Math.floor(percent)} %, ${pageCount ?? '?'} pages`;
}

/** Undefined for the failure of an earlier export while a newer one is on its way. */
function errorOf({ phase, lastError, exports = [] }: ShownSite): string | undefined {
  if (!lastError) return undefined;
  const running = exports.find(({ outcome }) => outcome === 'running');
  const isOfRunning = running !== undefined && lastError.at >= running.startedAt;
  if (WORKING.includes(phase ?? '') && !isOfRunning) return undefined;
  return `error: ${plain(lastError.message)}`;
}

function untilThen(time: string, now: Date): string {
  const seconds = Math.round((Date.parse(time) - now.getTime()) / 1000);
  if (Number.isNaN(seconds) || seconds <= 0) return 'now';
  return seconds < 120 ? `in ${seconds} s` : `in ${Math.round(seconds / 60)} min`;
}
