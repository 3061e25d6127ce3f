import type { DeploymentState, ExportRecord } from '../../contract/site-state.ts';
import { deploymentWords, phaseWords } from '../../contract/site-words.ts';
import { CommandError } from '../command-error.ts';
import { type Orchestrator, sitePath } from '../orchestrator-client.ts';
import { plain, printJson } from '../output.ts';
import {
  lockOf,
  progressOf,
  reviewOf,
  type ShownSite,
  siteStatus,
  startPlaceOf,
  WORKING,
} from '../sites/describe-site.ts';
import { localTime } from '../table.ts';
import { poll } from './poll.ts';
import { createScreen } from './screen.ts';
import { eventLine, siteEvents } from './site-events.ts';

/** Finds the export that is followed; undefined until it has begun. */
type Find = (state: ShownSite) => ExportRecord | undefined;

/** How it ended: where it is served, or why it isn't and what to do. */
type End = { places: string[] } | { problem: string };

interface Followed {
  site: string;
  ask: Orchestrator['ask'];
  /** The URLs of the running `up`'s deployments, by values files. */
  urls: ReadonlyMap<string, string>;
  json?: boolean | undefined;
}

/** The export of the newest request of an operator. */
export const requestedExport: Find = ({ actions = [], exports = [] }) => {
  const request = actions.find(
    ({ action, error }) => error === null && (action === 'export' || action === 'run-again'),
  );
  // An api of another release may list no requests.
  return request === undefined ? exports[0] : exports.findLast(({ startedAt }) => startedAt >= request.at);
};

/** The export that collected a delivery. */
export function exportOfDelivery(id: string): Find {
  return ({ deliveries = [], exports = [] }) => {
    const { exportNumber } = deliveries.find((each) => each.id === id) ?? {};
    return exports.find(({ number }) => number === exportNumber);
  };
}

/** How many states in a row may show a site at rest before its export begins. */
const PATIENCE = 10;

/**
 * Follows an export until it is served or written, and prints where.
 * @throws CommandError if it isn't served, with the reason and the next step
 */
export async function followExport(find: Find, { site, ask, urls, json }: Followed): Promise<void> {
  const screen = createScreen({ silent: json === true });
  const printed = new Set<string>();
  let last: ShownSite | undefined;
  let followed: number | undefined;
  let begins = PATIENCE;
  const look = (state: ShownSite): End | undefined => {
    last = state;
    const record = followed === undefined ? find(state) : newest(state, followed);
    const isResting = record === undefined && state.phase === 'live' && state.current !== false;
    if (isResting && begins-- === 0) return { problem: `${site} exports nothing new: galley logs ${site} shows why` };
    followed = record?.number ?? followed;
    for (const event of siteEvents(state)) {
      const line = eventLine(event);
      if (record === undefined || event.exportNumber !== record.number || printed.has(line)) continue;
      printed.add(line);
      screen.line(line);
    }
    const end = endOf(state, record, urls);
    if (end === undefined) screen.status(whatHappens(state));
    return end;
  };
  const goesOn = `${site} goes on without this command: galley sites status ${site} shows it`;
  const read = async (): Promise<ShownSite> => siteStatus.parse(await ask(sitePath(site)));
  const end = await poll(read, look, goesOn).finally(() => screen.end());
  if (json) printJson(last);
  if ('problem' in end) throw new CommandError(end.problem);
  for (const place of end.places) screen.line(place);
}

/** Their publishes wait for the next export. */
const REPLACED: readonly (string | null)[] = ['superseded', 'partly', 'failed'];

/** The export, or the one that replaced or repeats it: it holds the same publishes. */
function newest({ exports = [] }: ShownSite, number: number): ExportRecord | undefined {
  const own = exports.find((each) => each.number === number);
  if (own === undefined || !REPLACED.includes(own.outcome)) return own;
  const newer = exports.filter((each) => each.number > number);
  return newer.findLast(({ outcome }) => !REPLACED.includes(outcome)) ?? newer[0] ?? own;
}

/** Only a person changes it: a failed export without a next try has been given up. */
function isStopped({ phase, nextTryAt }: ShownSite): boolean {
  return phase === 'failed' ? !nextTryAt : phase === 'paused' || phase === 'unconfigured';
}

function endOf(state: ShownSite, record: ExportRecord | undefined, urls: Followed['urls']): End | undefined {
  const { site, phase = '', deployments = [], current, nextTryAt } = state;
  if (current === false) return undefined;
  if (record === undefined) {
    if (isStopped(state)) return { problem: whyStopped(state) };
    if (WORKING.includes(phase) || nextTryAt || phase === 'waiting' || (state.actions ?? []).length > 0)
      return undefined;
    return phase === 'live' ? { places: placesOf(deployments, urls) } : { problem: blockedBy(state, deployments) };
  }
  const { outcome, jobId, exportedAt, error, number } = record;
  const having = deployments.filter((each) => jobId !== null && each.jobId === jobId);
  switch (outcome) {
    case 'served':
    case 'written':
      return { places: placesOf(having, urls) };
    case 'failed':
      if (nextTryAt || WORKING.includes(phase)) return undefined;
      return { problem: whyFailed(site, error, `Export ${number}`) };
    case 'rejected':
    case 'canceled':
      return { problem: `Export ${number} of ${site} was ${outcome}. galley sites export ${site} exports again` };
    case 'held':
      return { problem: blockedBy(state, deployments) };
    default:
  }
  if (exportedAt === null || outcome !== null) return isStopped(state) ? { problem: whyStopped(state) } : undefined;
  const isBusy = deployments.some((each) => each.state === 'writing' || each.state === 'confirming');
  const blocked = deployments.filter((each) => !['waiting', 'writing', 'confirming', 'live'].includes(each.state));
  return isBusy || blocked.length === 0 ? undefined : { problem: blockedBy(state, blocked) };
}

function placesOf(deployments: readonly DeploymentState[], urls: Followed['urls']): string[] {
  const places = deployments.map((each) => {
    const place = plain(each.url ?? urls.get(each.name) ?? each.name);
    return each.servedAt === null ? `Written: ${place}` : `Served: ${place}`;
  });
  return places.length === 0 ? ['Exported. galley.yaml names no deployment'] : [...new Set(places)];
}

function whyStopped(state: ShownSite): string {
  const { site, phase, lastError } = state;
  if (phase === 'paused') return `${site} is paused: galley sites resume ${site} exports it`;
  if (phase === 'unconfigured') return `No worker has ${site} in its galley.yaml: add it there and restart the worker`;
  return whyFailed(site, lastError?.message);
}

function whyFailed(site: string, why: string | null | undefined, name = 'The export'): string {
  return `${name} of ${site} failed: ${plain(why ?? 'no reason is known')}. galley sites export ${site} exports again`;
}

/** What keeps an export from being served, and the next command. */
function blockedBy(state: ShownSite, deployments: readonly DeploymentState[]): string {
  const { site, lock, review, phase } = state;
  if (review)
    return `${reviewOf(state)}. galley sites approve ${site} deploys it, galley sites reject ${site} drops it`;
  if (lock) return `${site} is ${lockOf(state)}. galley sites unlock ${site} deploys it`;
  const reasons = deployments.filter(({ state: each }) => each !== 'live').map((each) => whyNot(site, each));
  return reasons.length === 0
    ? `${site} is not served: ${phaseWords(phase)}. galley sites status ${site} shows why`
    : reasons.join('\n');
}

function whyNot(site: string, deployment: DeploymentState): string {
  const { state, pin, proposal, error } = deployment;
  const name = plain(deployment.name);
  switch (state) {
    case 'approval':
      return `${name} waits for approval: galley sites approve ${site} --deployment ${name}`;
    case 'proposed':
      return `${name} waits until its pull request is merged: ${plain(proposal ?? '')}`;
    case 'held':
      return `${name} is pinned at ${plain(pin ?? 'a version')}: its pin has to be removed`;
    case 'off':
      return `${name} is off: staticExport.enabled has to be true there`;
    default: {
      const why = error === null ? '' : `: ${plain(error.message)}`;
      return `${name}: ${deploymentWords(deployment)}${why}. galley sites status ${site} --watch shows when that changes`;
    }
  }
}

function whatHappens(state: ShownSite): string {
  const { phase, current, deployments = [], nextTryAt, lastError } = state;
  if (current === false) return 'No worker answers yet: galley doctor says whether one runs';
  if (nextTryAt && phase === 'failed')
    return `Failed, next try at ${localTime(nextTryAt)}: ${plain(lastError?.message ?? 'no reason is known')}`;
  const busy = deployments.filter((each) => each.state === 'writing' || each.state === 'confirming');
  const facts = [
    phaseWords(phase),
    startPlaceOf(state),
    progressOf(state),
    ...(phase === 'deploying' || phase === 'confirming' ? busy : []).map(
      (each) => `${plain(each.name)}: ${deploymentWords(each)}`,
    ),
  ];
  return facts.filter(Boolean).join(', ');
}
