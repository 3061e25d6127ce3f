import type { SiteSettings } from '../../contract/settings.ts';
import { TARGETS } from '../../contract/target-kind.ts';
import { type Desired, isByPublish, jobOf, pinnedJob, type Steering } from './desired-version.ts';
import { plannedRefreshAtMs, TOGETHER_SHARE } from './schedule.ts';
import type { Deployment, HeldLink, Job } from './state.ts';

/** What to do next for one deployment, from what it should have and what is known of it. Pure. */

/** Does nothing until something changes. */
type Rest = { do: 'rest' };
type Wait = { do: 'wait'; untilMs: number };
export type WriteStep =
  | Rest
  | Wait
  | { do: 'find-pin'; version: string }
  /** A write of another job that is long or not begun yet is canceled first. */
  | { do: 'deploy' | 'refresh'; job: Job; linkNewerThanMs: number };
export type AskStep =
  | Rest
  /** What is asked is out of date. */
  | { do: 'stop' }
  /** `until`: a verdict after `confirmWithin`, the first answer after none came, or that it serves the job. */
  | { do: 'ask'; job: Job; until: 'verdict' | 'answer' | 'served' }
  | { do: 'follow-proposal'; jobId: string }
  /** It was seen not to serve the job, so it gets the last good one again. Only the state changes. */
  | { do: 'withhold'; job: Job; why: string };

/** The steps that run now: one write and one question at most, because a question can stay open for hours. */
export type UnderWay = {
  /** `preparing`: it has changed nothing outside yet. */
  write: { jobId: string; stage?: 'preparing' | 'writing' } | null;
  ask: { jobId: string; does: (WriteStep | AskStep)['do'] } | null;
};

export type Facts = UnderWay & {
  site: string;
  nowMs: number;
  /** The timer of a link fired: links that are due soon are refreshed with it. */
  timerFired: boolean;
  settings: Pick<SiteSettings, 'maxWaitMs' | 'refreshMargin' | 'minRefreshIntervalMs'>;
};

const REST = { do: 'rest' } as const;
const NEVER = Number.POSITIVE_INFINITY;

export function nextSteps(
  site: Steering,
  deployment: Deployment,
  desired: Desired,
  facts: Facts,
): { write: WriteStep; ask: AskStep } {
  return { write: nextWrite(site, deployment, desired, facts), ask: nextAsk(site, deployment, desired, facts) };
}

function nextWrite(site: Steering, deployment: Deployment, desired: Desired, facts: Facts): WriteStep {
  const { job } = desired;
  const { nowMs, write } = facts;
  if (write !== null) {
    const isUnknownPin = deployment.pin !== null && pinnedJob(site, deployment) === null;
    if (job === null || job.jobId === write.jobId || isUnknownPin) return REST;
    const isReplaceable = write.stage === 'preparing' || TARGETS[deployment.kind].longWrite !== null;
    const replaces = isReplaceable && mayReplace(site, deployment, desired, facts);
    return replaces ? { do: 'deploy', job, linkNewerThanMs: 0 } : REST;
  }
  const search = pinSearch(site, deployment, nowMs);
  if (search?.do === 'find-pin') return search;
  const planned = [writeOf(site, deployment, desired, facts), refreshOfWritten(site, deployment, desired, facts)];
  const due = planned.find((each) => each !== null && each.atMs <= nowMs);
  if (due) return due.step;
  const untilMs = Math.min(...planned.map((each) => each?.atMs ?? NEVER), search?.untilMs ?? NEVER);
  return untilMs === NEVER ? REST : { do: 'wait', untilMs };
}

type Planned = { atMs: number; step: WriteStep };

/** When to write the desired job, or a fresh link of it. */
function writeOf(site: Steering, deployment: Deployment, desired: Desired, facts: Facts): Planned | null {
  const { job } = desired;
  const link = job && heldLink(deployment, job);
  if (job === null) return null;
  if (link !== undefined) return refreshOf(site, deployment, { job, link }, facts);
  if (waitsForConfirmation(site, deployment, desired, facts)) return null;
  // A link from before an operator asked for fresh ones would be due at once.
  const linkNewerThanMs = Math.max(site.refreshAskedMs - 1, 0);
  return { atMs: hinderedUntilMs(site, deployment, job), step: { do: 'deploy', job, linkNewerThanMs } };
}

/** What is there keeps its link while another job is desired that can't be written, or none. */
function refreshOfWritten(site: Steering, deployment: Deployment, { job }: Desired, facts: Facts): Planned | null {
  const { written, proposed, trouble } = deployment;
  const there = jobOf(site, written?.jobId ?? null);
  if (written === null || there === null || there.jobId === job?.jobId || proposed !== null) return null;
  // Writes fail there, whatever is written.
  if (job !== null && trouble?.jobId === job.jobId) return null;
  return refreshOf(site, deployment, { job: there, link: written.link }, facts);
}

function refreshOf(
  site: Steering,
  deployment: Deployment,
  { job, link }: { job: Job; link: HeldLink | null },
  facts: Facts,
): Planned {
  const dueAtMs = deployment.trouble?.jobId === job.jobId ? 0 : linkDueAtMs(site, deployment, link, facts);
  const linkNewerThanMs = Math.max(link?.obtainedAtMs ?? 0, site.refreshAskedMs - 1);
  const atMs = Math.max(hinderedUntilMs(site, deployment, job), dueAtMs);
  return { atMs, step: { do: 'refresh', job, linkNewerThanMs } };
}

/** The end of the back-off after a failed write of the job, or of its link. */
function hinderedUntilMs({ linkTrouble }: Steering, { trouble }: Deployment, { jobId }: Job): number {
  const writeMs = trouble?.jobId === jobId ? trouble.notBeforeMs : 0;
  return Math.max(writeMs, linkTrouble[jobId]?.notBeforeMs ?? 0);
}

/** The link of the job that the deployment has, or proposes; null if unknown; undefined if it has another job or none. */
function heldLink({ written, proposed }: Deployment, job: Job): HeldLink | null | undefined {
  if (proposed !== null) return proposed.jobId === job.jobId ? proposed.link : undefined;
  return written?.jobId === job.jobId ? written.link : undefined;
}

/** When to write a job again that is there: its link ends, or an operator asked for it. */
function linkDueAtMs(
  { refreshAskedMs }: Steering,
  deployment: Deployment,
  link: HeldLink | null,
  facts: Facts,
): number {
  if (!TARGETS[deployment.kind].keepsLink) return NEVER;
  if (link === null || link.obtainedAtMs < refreshAskedMs) return 0;
  const earlyMs = facts.timerFired ? Math.max(link.lifetimeMs, 0) * TOGETHER_SHARE : 0;
  return plannedRefreshAtMs(deployment, link, facts) - earlyMs;
}

/** Whether an older version has to be confirmed before this one is written. */
function waitsForConfirmation(site: Steering, deployment: Deployment, desired: Desired, facts: Facts): boolean {
  return isConfirming(site, deployment) && !mayReplace(site, deployment, desired, facts);
}

/** Whether nothing is known yet of the version that is there. An answer, of whatever kind, ends it. */
export function isConfirming(site: Steering, { confirm, written, begun, answer, off }: Deployment): boolean {
  if (confirm === null || off || written === null || written.jobId !== begun) return false;
  // What another site wrote is no version of this one.
  return answer?.jobId !== begun && jobOf(site, begun) !== null;
}

/**
 * Whether a version that is being written or confirmed may be replaced: always by a decision of an operator or a version that
 * served before, by a newer publish only until the oldest one has waited for `maxWait` and the duration of a write. Otherwise
 * steady publishes would never be served.
 */
function mayReplace(site: Steering, deployment: Deployment, { reason }: Desired, { nowMs, settings }: Facts): boolean {
  if (!isByPublish(reason)) return true;
  const oldestMs = oldestUnservedMs(site, deployment);
  return oldestMs === null || nowMs - oldestMs < settings.maxWaitMs + (deployment.written?.tookMs ?? 0);
}

/** When the oldest publish was accepted that is exported, not settled, and not served here; null if there is none. */
export function oldestUnservedMs(
  { jobs, newest, settled }: Pick<Steering, 'jobs' | 'newest' | 'settled'>,
  { lastGood, rejected, withheld }: Pick<Deployment, 'lastGood' | 'rejected' | 'withheld'>,
): number | null {
  const upToOf = (jobId: string | null): number => jobs.find((job) => job.jobId === jobId)?.upTo ?? 0;
  const done = Math.max(settled, upToOf(lastGood), upToOf(rejected), upToOf(withheld?.jobId ?? null));
  const last = upToOf(newest);
  const times = jobs.flatMap(({ upTo, oldestPublishMs }) =>
    upTo > done && upTo <= last && oldestPublishMs !== null ? [oldestPublishMs] : [],
  );
  return times.length === 0 ? null : Math.min(...times);
}

/** Searches the service once for the job of an unknown pin, and again if the search failed. */
function pinSearch(
  site: Steering,
  deployment: Deployment,
  nowMs: number,
): Wait | { do: 'find-pin'; version: string } | null {
  const { pin, pinSearch: search } = deployment;
  if (pin === null || pinnedJob(site, deployment) !== null) return null;
  if (search?.pin !== pin) return { do: 'find-pin', version: pin };
  if (search.againAtMs === null) return null;
  return search.againAtMs > nowMs ? { do: 'wait', untilMs: search.againAtMs } : { do: 'find-pin', version: pin };
}

function nextAsk(site: Steering, deployment: Deployment, desired: Desired, facts: Facts): AskStep {
  const { proposed, off, confirm } = deployment;
  const { ask } = facts;
  if (proposed !== null) {
    const { jobId } = proposed;
    return askOnce(ask, { do: 'follow-proposal', jobId }, jobId);
  }
  const job = jobToAsk(site, deployment, desired, facts);
  const answer = deployment.answer?.jobId === job?.jobId ? deployment.answer : null;
  if (confirm === null || off || job === null || answer?.verdict === 'served')
    return ask === null ? REST : { do: 'stop' };
  if (answer?.verdict === 'other' && mayWithhold(site, deployment, desired)) {
    return { do: 'withhold', job, why: answer.why ?? 'it serves another version' };
  }
  const until = answer === null ? 'verdict' : answer.verdict === 'unknown' ? 'answer' : 'served';
  return askOnce(ask, { do: 'ask', job, until }, job.jobId);
}

/** The job that is there, if it should be, or if the next one waits for an answer about it. */
function jobToAsk(site: Steering, deployment: Deployment, desired: Desired, facts: Facts): Job | null {
  const { written } = deployment;
  const isDesired = desired.job !== null && written?.jobId === desired.job.jobId;
  if (!isDesired && !waitsForConfirmation(site, deployment, desired, facts)) return null;
  return jobOf(site, written?.jobId ?? null);
}

/** One question at a time. A pull request with a fresh link is another question about the same job. */
function askOnce(
  ask: UnderWay['ask'],
  step: Extract<AskStep, { do: 'ask' | 'follow-proposal' }>,
  jobId: string,
): AskStep {
  if (ask === null) return step;
  return ask.jobId === jobId && ask.does === step.do ? REST : { do: 'stop' };
}

/** Never what an operator decided, nor what a rollback brought back. */
function mayWithhold({ jobs }: Steering, { confirm, lastGood }: Deployment, { job, reason }: Desired): boolean {
  if (confirm?.rollback !== true || lastGood === null || lastGood === job?.jobId) return false;
  return isByPublish(reason) && jobs.some(({ jobId }) => jobId === lastGood);
}
