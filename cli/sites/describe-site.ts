import { z } from 'zod';
import { type DeploymentState, SHOWN_FIELDS, siteState } from '../../contract/site-state.ts';
import {
  DELIVERY_WORDS,
  DESIRED_WORDS,
  deploymentWords,
  phaseWords,
  rejectionWords,
  startPlaceText,
  UNSERVED_WORDS,
} from '../../contract/site-words.ts';
import { formatCount } from '../../ui/format.ts';
import { plain, wrap } from '../output.ts';
import { ago, type Columns } from '../table.ts';

/** Deliveries that a receiver counted and kept no longer. */
export const rejectedDeliveries = z.object({
  source: z.string(),
  reason: z.string(),
  count: z.number(),
  lastAt: z.string(),
});

/** Parsed loosely, because an api of another release may send more or fewer fields. */
export const siteStatus = siteState
  .extend({ rejected: z.array(rejectedDeliveries), current: z.boolean() })
  .partial()
  .required({ site: true })
  .loose();
export type ShownSite = z.infer<typeof siteStatus>;

/** Phases in which something is on its way. */
export const WORKING: readonly string[] = ['debouncing', 'exporting', 'bundling', 'deploying', 'confirming'];
const INDENT = '  ';
const LABEL_COLUMNS = 14;

/** The state in one or two lines. Lists and results of actions have no exports, refreshes and actions to describe. */
export function describeBriefly(site: ShownSite): string {
  const facts = [phaseOf(site), site.version && `version ${plain(site.version)}`, ...notesOf(site)];
  return wrap(`${site.site}: ${facts.filter(Boolean).join(', ')}`, INDENT).slice(INDENT.length);
}

function phaseOf({ phase }: ShownSite): string {
  return phaseWords(phase).toLowerCase();
}

/** What a person has to know about it besides its phase and version. */
function notesOf(site: ShownSite): string[] {
  const { withheld, deployments = [] } = site;
  const notes = [
    startPlaceOf(site),
    progressOf(site),
    lockOf(site),
    withheld && `withholds the newer ${plain(withheld.version ?? 'export')}, exported ${ago(withheld.exportedAt)}`,
    reviewOf(site),
    ...deployments.filter(isSpecial).map((each) => `${plain(each.name)} is ${briefly(each)}`),
    errorOf(site),
  ];
  return notes.filter((note): note is string => Boolean(note));
}

/** The columns of a list of sites. */
export const SITE_COLUMNS: Columns<ShownSite> = {
  Site: ({ site }) => site,
  Phase: phaseOf,
  Version: ({ version }) => version,
  Exported: ({ exportedAt }) => ago(exportedAt),
  'Link expires': ({ linkExpiresAt }) => ago(linkExpiresAt),
  '': (site) => notesOf(site).join(', '),
};

interface Known {
  /** The URLs of the running `up`'s deployments, by values file. */
  urls: ReadonlyMap<string, string>;
  now: Date;
}

/** `--json` shows more of them. */
const NEWEST = 10;

/** Everything that an operator looks for, a line each. */
export function describeInFull(site: ShownSite, { urls, now }: Known): string[] {
  const { withheld, oldestUnserved, deployments = [], exports = [], guardsNotChecked = [] } = site;
  const shownExport = exports.find(({ jobId }) => jobId !== null && jobId === site.jobId);
  const error = errorOf(site);
  return [
    `${site.site}: ${phaseOf(site)}`,
    ...label('start', startPlaceOf(site)),
    ...label('progress', progressOf(site)),
    ...SHOWN_FIELDS.flatMap((each) => label(each.label.toLowerCase(), shown(each, site, now))),
    ...label('guards', guardsNotChecked.length > 0 && `not checked: ${plain(guardsNotChecked.join(', '))}`),
    ...label('pages', shownExport?.pageCount?.toString()),
    ...label('locked', lockOf(site, now)?.replace(/^locked /, '')),
    ...label(
      'withholds',
      withheld && `the newer ${plain(withheld.version ?? 'export')}, exported ${ago(withheld.exportedAt, now)}`,
    ),
    ...label('review', reviewOf(site)),
    ...label(
      'not served',
      oldestUnserved && `a publish ${ago(oldestUnserved.at, now)}: ${UNSERVED_WORDS[oldestUnserved.reason]}`,
    ),
    ...label('error', error?.replace(/^error: /, '')),
    ...label('next try', error && site.nextTryAt && ago(site.nextTryAt, now)),
    ...deploymentLines(deployments, { urls, now }),
    ...deliveryLines(site, now),
  ];
}

function label(name: string, value: string | false | null | undefined): string[] {
  if (!value) return [];
  const rest = INDENT + ' '.repeat(LABEL_COLUMNS);
  return [wrap(value, rest).replace(/^ +/, `${INDENT}${name.padEnd(LABEL_COLUMNS)}`)];
}

function deploymentLines(deployments: readonly DeploymentState[], { urls, now }: Known): string[] {
  if (deployments.length === 0) return [];
  const hasWaves = new Set(deployments.map(({ wave }) => wave)).size > 1;
  const lines = deployments.flatMap((each) => {
    const { name, wave, version, servedAt, writtenAt, error, proposal } = each;
    const since =
      servedAt !== null ? `served ${ago(servedAt, now)}` : writtenAt !== null && `written ${ago(writtenAt, now)}`;
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
function briefly(deployment: DeploymentState): string {
  const { state, jobId, pin, desired } = deployment;
  const { version, reason } = desired;
  const words = deploymentWords(deployment).toLowerCase();
  if (state === 'off' || reason === 'nothing') return words;
  const wanted = version ?? desired.jobId;
  const why = reason === 'pinned' && pin !== null ? `pinned at ${plain(pin)}` : DESIRED_WORDS[reason];
  const facts = [
    desired.jobId !== jobId && wanted !== null && `should have ${plain(wanted)}`,
    reason !== 'newest' && why,
  ].filter(Boolean);
  return facts.length === 0 ? words : `${words} (${facts.join(': ')})`;
}

/** Nothing for what there isn't. */
function shown({ field, type }: (typeof SHOWN_FIELDS)[number], site: ShownSite, now: Date): string {
  const value = site[field];
  if (!value) return '';
  return type === 'time' ? ago(String(value), now) : plain(String(value));
}

function deliveryLines(site: ShownSite, now: Date): string[] {
  const deliveries = (site.deliveries ?? []).slice(0, NEWEST).map((delivery) => {
    const { at, source, outcome, topic, workflowId, why } = delivery;
    return [
      ago(at, now),
      source,
      DELIVERY_WORDS[outcome].toLowerCase(),
      topic && plain(topic),
      workflowId,
      why && `(${plain(why)})`,
    ];
  });
  const rejections = (site.rejected ?? []).map(({ lastAt, source, reason, count }) => {
    const often = count === 1 ? 'once' : `${count} times`;
    return [ago(lastAt, now), source, `rejected ${often}:`, rejectionWords(reason)];
  });
  const lines = [...deliveries, ...rejections].map((words) => wrap(words.filter(Boolean).join(' '), `${INDENT}  `));
  return lines.length === 0 ? [] : [`${INDENT}deliveries`, ...lines];
}

export function lockOf({ lock }: ShownSite, now = new Date()): string | undefined {
  if (!lock) return undefined;
  const { by, at, reason } = lock;
  return `locked by ${plain(by)} ${ago(at, now)}${reason === null ? '' : `: ${plain(reason)}`}`;
}

export function reviewOf({ review }: ShownSite): string | undefined {
  if (!review) return undefined;
  const { version, jobId, reasons } = review;
  return `${plain(version ?? jobId)} waits for approve or reject: ${plain(reasons.join('; '))}`;
}

export function startPlaceOf({ startPlace }: ShownSite): string | undefined {
  return startPlace ? startPlaceText(startPlace) : undefined;
}

export function progressOf({ progress }: ShownSite): string | undefined {
  if (!progress) return undefined;
  const { percent, pageCount } = progress;
  return `${percent === null ? '?' : Math.floor(percent)} %, ${pageCount === null ? '? pages' : formatCount(pageCount, 'page')}`;
}

/** Undefined for the failure of an earlier export while a newer one is on its way. */
function errorOf({ phase, lastError, exports = [] }: ShownSite): string | undefined {
  if (!lastError) return undefined;
  const running = exports.find(({ outcome }) => outcome === null);
  const isOfRunning = running !== undefined && lastError.at >= running.startedAt;
  if (WORKING.includes(phase ?? '') && !isOfRunning) return undefined;
  return `error: ${plain(lastError.message)}`;
}
