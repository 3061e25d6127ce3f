import { z } from 'zod';
import { type DeploymentState, SHOWN_FIELDS, siteState } from '../../contract/site-state.ts';
import { DESIRED_WORDS, startPlaceText, UNSERVED_WORDS } from '../../contract/site-words.ts';
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
    startPlaceOf(site),
    version && `version ${version}`,
    progressOf(site),
    lockOf(site),
    withheld && `withholds the newer ${plain(withheld.version ?? 'export')} of ${withheld.exportedAt}`,
    reviewOf(site),
    ...deployments.filter(isSpecial).map((each) => `${plain(each.name)} is ${briefly(each)}`),
    errorOf(site),
  ];
  return wrap(`${site.site}: ${facts.filter(Boolean).join(', ')}`, INDENT).slice(INDENT.length);
}

interface Known {
  /** The URLs of the running `up`'s deployments, by values file. */
  urls: ReadonlyMap<string, string>;
  now: Date;
}

/** `--json` shows more of them. */
const NEWEST = 10;

/** Everything that an operator looks for, a line each. */
export function describeInFull(site: ShownSite, { urls, now }: Known): string[] {
  const { phase = 'unknown', withheld, oldestUnserved, deployments = [], exports = [], guardsNotChecked = [] } = site;
  const shownExport = exports.find(({ jobId }) => jobId !== null && jobId === site.jobId);
  const error = errorOf(site);
  return [
    `${site.site}: ${phase}`,
    ...label('start', startPlaceOf(site)),
    ...label('progress', progressOf(site)),
    ...SHOWN_FIELDS.flatMap(({ field, label: name }) => label(name.toLowerCase(), shown(site[field]))),
    ...label('guards', guardsNotChecked.length > 0 && `not checked: ${plain(guardsNotChecked.join(', '))}`),
    ...label('pages', shownExport?.pageCount?.toString()),
    ...label('locked', lockOf(site)?.replace(/^locked /, '')),
    ...label('withholds', withheld && `the newer ${plain(withheld.version ?? 'export')} of ${withheld.exportedAt}`),
    ...label('review', reviewOf(site)),
    ...label(
      'not served',
      oldestUnserved && `a publish of ${oldestUnserved.at}: ${UNSERVED_WORDS[oldestUnserved.reason]}`,
    ),
    ...label('error', error?.replace(/^error: /, '')),
    ...label('next try', error && site.nextTryAt && `${site.nextTryAt} (${untilThen(site.nextTryAt, now)})`),
    ...deploymentLines(deployments, urls),
    ...deliveryLines(site),
  ];
}

function label(name: string, value: string | false | null | undefined): string[] {
  if (!value) return [];
  const rest = INDENT + ' '.repeat(LABEL_COLUMNS);
  return [wrap(value, rest).replace(/^ +/, `${INDENT}${name.padEnd(LABEL_COLUMNS)}`)];
}

function deploymentLines(deployments: readonly DeploymentState[], urls: Known['urls']): string[] {
  if (deployments.length === 0) return [];
  const hasWaves = new Set(deployments.map(({ wave }) => wave)).size > 1;
  const lines = deployments.flatMap((each) => {
    const { name, wave, version, servedAt, writtenAt, error, proposal } = each;
    const since = servedAt !== null ? `served since ${servedAt}` : writtenAt !== null && `written at ${writtenAt}`;
    const url = each.url ?? urls.get(name);
    const facts = [
      `${plain(name)}${hasWaves ? ` (wave ${wave})` : ''}: ${briefly(each)}`,
      version !== null && plain(version),
      version !== null && since,
      url && plain(url),
    ];
    return [
      wrap(facts.filter(Boolean).join(', '), `${INDENT}  `),
      ...(proposal === null ? [] : [`${INDENT}    pull request: ${plain(proposal)}`]),
      ...(error === null ? [] : [wrap(`error: ${plain(error.message)}`, `${INDENT}    `)]),
    ];
  });
  return [`${INDENT}deployments`, ...lines];
}

/** Whether a list mentions it: it doesn't simply follow. */
function isSpecial({ state }: DeploymentState): boolean {
  return !['waiting', 'writing', 'confirming', 'live', 'locked'].includes(state);
}

/** What it does and, unless it simply has the newest version, what it should have and why. */
function briefly({ state, jobId, pin, desired }: DeploymentState): string {
  const { version, reason } = desired;
  if (state === 'off' || reason === 'nothing') return state;
  const wanted = version ?? desired.jobId;
  const why = reason === 'pinned' && pin !== null ? `pinned at ${plain(pin)}` : DESIRED_WORDS[reason];
  const facts = [
    desired.jobId !== jobId && wanted !== null && `should have ${plain(wanted)}`,
    reason !== 'newest' && why,
  ].filter(Boolean);
  return facts.length === 0 ? state : `${state} (${facts.join(': ')})`;
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

function lockOf({ lock }: ShownSite): string | undefined {
  if (!lock) return undefined;
  const { by, at, reason } = lock;
  return `locked by ${plain(by)} at ${at}${reason === null ? '' : `: ${plain(reason)}`}`;
}

function reviewOf({ review }: ShownSite): string | undefined {
  if (!review) return undefined;
  const { version, jobId, reasons } = review;
  return `${plain(version ?? jobId)} waits for approve or reject: ${plain(reasons.join('; '))}`;
}

function startPlaceOf({ startPlace }: ShownSite): string | undefined {
  return startPlace ? startPlaceText(startPlace) : undefined;
}

function progressOf({ progress }: ShownSite): string | undefined {
  if (!progress) return undefined;
  const { percent, pageCount } = progress;
  return `${percent === null ? '?' : Math.floor(percent)} %, ${pageCount ?? '?'} pages`;
}

/** Undefined for the failure of an earlier export while a newer one is on its way. */
function errorOf({ phase, lastError, exports = [] }: ShownSite): string | undefined {
  if (!lastError) return undefined;
  const running = exports.find(({ outcome }) => outcome === null);
  const isOfRunning = running !== undefined && lastError.at >= running.startedAt;
  if (WORKING.includes(phase ?? '') && !isOfRunning) return undefined;
  return `error: ${plain(lastError.message)}`;
}

function untilThen(time: string, now: Date): string {
  const seconds = Math.round((Date.parse(time) - now.getTime()) / 1000);
  if (Number.isNaN(seconds) || seconds <= 0) return 'now';
  return seconds < 120 ? `in ${seconds} s` : `in ${Math.round(seconds / 60)} min`;
}
