import { EXPORT_DEFAULTS } from '../../../contract/export-defaults.ts';
import type { SiteState } from '../../../contract/site-state.ts';
import { TARGETS } from '../../../contract/target-kind.ts';
import type { Job } from '../../../workflows/export-site/state.ts';
import type { Place } from './simulated-place.ts';

/**
 * The independent model of a site: it notes what was published, exported, decided, written and served, and fails on what must
 * never happen. It doesn't use what it judges: neither `desiredVersion` nor `nextSteps`, and of the state only what people see.
 */

export class BrokenInvariant extends Error {}

export type Witness = ReturnType<typeof createWitness>;

/** What the witness sees of the site and of the world around it. */
export type World = {
  readonly places: readonly Place[];
  /** The Admin API: whether it refuses all links, those that it has no more, and the jobs that are completed. */
  readonly service: { refuses: boolean; gone: Set<string>; jobs: Job[] };
  readonly isRunning: boolean;
  readonly isWorkerAway: boolean;
  /** Whether the site remembers the job. */
  knows(jobId: string): boolean;
  status(): SiteState;
};

/** `number` is the order in which the exports began, `accepted` counts publishes and requests up to then. */
type ModelJob = {
  jobId: string;
  version: string | null;
  number: number;
  accepted: number;
  oldestMs: number | null;
  isReleased: boolean;
};

type Known = {
  /** What Galley has read. */
  pin: string | null;
  isOff: boolean;
  /** The job of the last write that began; what was written, and when; what was last seen to be served. */
  begun: ModelJob | null;
  written: ModelJob | null;
  proposed: ModelJob | null;
  lastGood: ModelJob | null;
  approved: Set<string>;
  rejected: ModelJob | null;
  withheld: ModelJob | null;
  /** Since when nothing keeps it from going back to the last good one. */
  badSinceMs: number;
  verdict: { jobId: string; verdict: 'other' | 'unknown' } | null;
  /** Whether what is written has been asked about in vain, or served. */
  isAnswered: boolean;
  /** Since when nothing outside hinders the refresh of its link. */
  healthySinceMs: number;
  reportedExpiryMs: number;
  steps: number;
  stepsSinceMs: number;
};

/** Back-off takes at most a minute, and a write less. */
const REFRESH_TAKES_MS = 3 * 60_000;
/** Back-off after a 410. */
const GONE_TAKES_MS = 3_600_000;
const MAX_STEPS_A_MINUTE = 16;
const MAX_WAIT_MS = EXPORT_DEFAULTS.maxWaitMs;
const LONGEST_WRITE_MS = 20_000;

/** What was only fetched from the service has no place in the order. */
function orderOf(job: ModelJob | null): number {
  return job?.isReleased ? job.number : 0;
}

export function createWitness(site: () => World) {
  const known = new Map<string, Known>();
  const jobs = new Map<string, ModelJob>();
  const publishTimesMs: number[] = [];
  let accepted = 0;
  let begunExports = 0;
  let waitingSinceMs: number | null = null;
  let running: { oldestMs: number | null; accepted: number; number: number } | null = null;
  let review: ModelJob | null = null;
  let newest: ModelJob | null = null;
  let rollback: { job: ModelJob; after: number } | null = null;
  let lock: { keeps: Map<string, string | null>; others: Set<string> } | null = null;
  /** Publishes of exports up to this number are settled. */
  let settled = 0;
  /** Until then, back-off after a 410 may last. */
  let goneUntilMs = 0;
  const writes: { place: string; text: string }[] = [];

  function fail(message: string): never {
    throw new BrokenInvariant(message);
  }

  function of({ name }: Pick<Place, 'name'>): Known {
    const found = known.get(name);
    if (found !== undefined) return found;
    const fresh: Known = {
      pin: null,
      isOff: false,
      begun: null,
      written: null,
      proposed: null,
      lastGood: null,
      approved: new Set(),
      rejected: null,
      withheld: null,
      badSinceMs: 0,
      verdict: null,
      isAnswered: false,
      healthySinceMs: 0,
      reportedExpiryMs: 0,
      steps: 0,
      stepsSinceMs: 0,
    };
    known.set(name, fresh);
    return fresh;
  }

  function job(jobId: string): ModelJob {
    return jobs.get(jobId) ?? fail(`${jobId} was never exported`);
  }

  const follows = (place: Place): boolean => place.listed && !of(place).isOff && of(place).pin === null;

  // ---- what may be written
  /** Why this deployment may get the job although it is older than what it has; null if it may as a newer one; else it fails. */
  function causeOf(place: Place, wanted: ModelJob): 'pinned' | 'locked' | 'rolled-back' | 'withheld' | null {
    const { pin, proposed } = of(place);
    const what = `${place.name} gets ${wanted.version}`;
    if (pin !== null) {
      // Of an unknown version, only what is there keeps its link.
      if (wanted.version !== pin && wanted !== proposed) fail(`${what}, but its operator pinned ${pin}`);
      return 'pinned';
    }
    if (lock !== null) {
      const kept = lock.keeps.get(place.name);
      if (kept === undefined ? !lock.others.has(wanted.jobId) : kept !== wanted.jobId)
        fail(`${what}, but the site is locked`);
      return 'locked';
    }
    if (rollback !== null) {
      if (rollback.job !== wanted) fail(`${what}, but the site was rolled back to ${rollback.job.version}`);
      return 'rolled-back';
    }
    return causeOfNormal(place, wanted, what);
  }

  function causeOfNormal(place: Place, wanted: ModelJob, what: string): 'withheld' | null {
    const { begun, lastGood, withheld, approved, rejected } = of(place);
    if (wanted === withheld) fail(`${what}, which it was seen not to serve`);
    if (withheld !== null && wanted === lastGood && withheld.number > wanted.number) return 'withheld';
    if (wanted === begun) return null;
    if (!wanted.isReleased) fail(`${what}, which was held or dropped`);
    // What an operator fetched from outside has no place in the order.
    if (begun?.isReleased && wanted.number < begun.number) fail(`${what} after the newer ${begun.version}`);
    if (rejected === wanted) fail(`${what}, which was rejected there`);
    if (place.settings.approve && !approved.has(wanted.jobId)) fail(`${what}, which nobody approved`);
    if (!place.settings.approve && place.settings.wave === 1 && wanted !== newest)
      fail(`${what}, but ${newest?.version} is newer`);
    if (place.settings.wave > 1) checkWaves(place.settings.wave, wanted, what);
    return null;
  }

  function checkWaves(wave: number, wanted: ModelJob, what: string): void {
    const earlier = site().places.filter((each) => each.listed && each.settings.wave < wave);
    if (earlier.length === 0) return;
    if (!earlier.some(follows)) fail(`${what}, but no deployment of the wave before follows`);
    for (const each of earlier) {
      if (follows(each) && orderOf(of(each).lastGood) < wanted.number)
        fail(`${what}, but ${each.name} doesn't have it`);
    }
  }

  /** A newer publish may replace what is being confirmed only for a while, or steady publishes would never be served. */
  function checkReplacement(place: Place, wanted: ModelJob, nowMs: number): void {
    const { begun, written, isOff, isAnswered } = of(place);
    if (place.settings.confirm === null || isOff || isAnswered || written === null || written !== begun) return;
    // While a pull request is open, nobody asks about the version before.
    if (place.settings.kind === 'git') return;
    // A site that begins anew doesn't know what is there.
    if (wanted !== written && written.accepted > 0) checkAge(place, nowMs);
  }

  function isByPublish(place: Place, jobId: string): boolean {
    return of(place).pin === null && lock === null && rollback === null && newest?.jobId === jobId;
  }

  function checkAge(place: Place, nowMs: number): void {
    const oldestMs = unservedMs(place);
    const isOld = oldestMs !== null && nowMs - oldestMs >= MAX_WAIT_MS + LONGEST_WRITE_MS;
    if (isOld) fail(`${place.name} is never served: a newer version replaces the one that is written or confirmed`);
  }

  // ---- links
  function checkLink(place: Place, nowMs: number): void {
    const record = of(place);
    if (site().service.gone.size > 0) goneUntilMs = nowMs + GONE_TAKES_MS;
    if (isHindered(place)) record.healthySinceMs = Math.max(nowMs, goneUntilMs);
    checkWithheld(place, nowMs);
    if (place.file === null || !TARGETS[place.settings.kind].keepsLink) return;
    const expiresMs = place.file.link.obtainedAtMs + place.file.link.lifetimeMs;
    if (nowMs <= expiresMs || record.reportedExpiryMs === expiresMs) return;
    record.reportedExpiryMs = expiresMs;
    if (record.healthySinceMs < expiresMs - REFRESH_TAKES_MS)
      fail(`the link of ${place.file.version} at ${place.name} expired`);
  }

  /** A withheld version doesn't stay. */
  function checkWithheld(place: Place, nowMs: number): void {
    const record = of(place);
    const { pin, begun, withheld, healthySinceMs, badSinceMs } = record;
    const isFree = pin === null && lock === null && rollback === null && goneUntilMs < nowMs;
    if (withheld === null || begun !== withheld || !isFree) record.badSinceMs = nowMs;
    else if (nowMs > Math.max(badSinceMs, healthySinceMs) + REFRESH_TAKES_MS)
      fail(`${place.name} keeps the withheld ${withheld.version}`);
  }

  /** Something outside keeps its link from being refreshed. */
  function isHindered(place: Place): boolean {
    const { listed, file, breaks, pullRequest, otherLists } = place;
    const { isRunning, isWorkerAway, service } = site();
    if (!isRunning || isWorkerAway || !listed || otherLists || breaks || service.refuses) return true;
    // A site that begins anew knows nothing of what is there.
    if (file === null || of(place).written?.jobId !== file.jobId) return true;
    if (!site().knows(file.jobId)) return true;
    return pullRequest !== null || service.gone.has(file.jobId);
  }

  function unservedMs(place: Place): number | null {
    const { lastGood, rejected, withheld } = of(place);
    const done = Math.max(settled, orderOf(lastGood), rejected?.number ?? 0, withheld?.number ?? 0);
    const last = newest?.number ?? 0;
    let oldestMs: number | null = null;
    for (const { isReleased, number, oldestMs: ms } of jobs.values()) {
      if (isReleased && number > done && number <= last && ms !== null) oldestMs = Math.min(oldestMs ?? ms, ms);
    }
    return oldestMs;
  }

  return {
    writes,
    fail,
    of,
    follows,
    get newest() {
      return newest;
    },
    get rollback() {
      return rollback;
    },
    get isLocked() {
      return lock !== null;
    },
    versions: (): ModelJob[] => [...jobs.values()],

    // ---- publishes and exports
    published(nowMs: number): void {
      publishTimesMs.push(nowMs);
      accepted++;
      waitingSinceMs ??= nowMs;
    },
    requested(): void {
      accepted++;
    },
    exportBegan(): void {
      running = { oldestMs: waitingSinceMs, accepted, number: ++begunExports };
      waitingSinceMs = null;
    },
    exportFailed(): void {
      waitingSinceMs = running?.oldestMs ?? waitingSinceMs;
      running = null;
    },
    exported({ jobId, version }: Job, how: 'released' | 'held' | 'failed', _nowMs: number): void {
      if (running === null) fail(`${jobId} is the export of nothing`);
      const added: ModelJob = { jobId, version, ...running, isReleased: how === 'released' };
      jobs.set(jobId, added);
      running = null;
      review = how === 'held' ? added : null;
      if (how === 'released') release(added);
    },
    reviewEnded(how: 'approve' | 'reject'): void {
      if (review === null) fail('no review to end');
      if (how === 'approve') {
        review.isReleased = true;
        release(review);
      }
      review = null;
    },

    // ---- commands
    rolledBack(jobId: string, after: number, locks: boolean): void {
      rollback = { job: job(jobId), after };
      if (locks) lockNow();
      if (lock !== null) lock = { keeps: new Map(), others: new Set([jobId]) };
      for (const each of jobs.values()) if (each.accepted <= after) settled = Math.max(settled, each.number);
      if (review !== null && review.accepted <= after) review = null;
      if (running !== null && running.accepted <= after) running = null;
      if (accepted <= after) waitingSinceMs = null;
    },
    /** How many publishes and requests were accepted. */
    get accepted() {
      return accepted;
    },
    locked: lockNow,
    unlocked(): void {
      lock = null;
      rollback = null;
    },
    approved(place: Place, jobId: string): void {
      of(place).approved.add(jobId);
    },
    rejected(place: Place, jobId: string): void {
      of(place).rejected = job(jobId);
    },
    switched(place: Place, how: 'announced' | 'reported'): void {
      if (!TARGETS[place.settings.kind].hasSwitches) return;
      const record = of(place);
      record.pin = place.pin;
      // Before the first deploy, `enabled: false` is not the operator's; a report knows whether it is.
      record.isOff = place.isOff && (how === 'reported' || record.written !== null || record.isOff);
    },
    /** The site doesn't list it any more, or begins anew. */
    forgotten({ name }: Place): void {
      const before = known.get(name);
      known.delete(name);
      if (before !== undefined) of({ name }).healthySinceMs = before.healthySinceMs;
    },
    removed(): void {
      known.clear();
      for (const each of jobs.values()) {
        each.accepted = 0;
        each.oldestMs = null;
      }
      accepted = 0;
      waitingSinceMs = running = review = newest = rollback = lock = null;
      settled = begunExports;
    },

    // ---- steps
    stepBegan(place: Place, nowMs: number, what: string): void {
      const record = of(place);
      if (nowMs >= record.stepsSinceMs + 60_000) {
        record.steps = 0;
        record.stepsSinceMs = nowMs;
      }
      if (++record.steps > MAX_STEPS_A_MINUTE) fail(`${place.name} takes a step (${what}) again and again`);
    },
    /** The inputs change: steps count anew. */
    commanded(): void {
      for (const record of known.values()) record.steps = 0;
    },
    writing(place: Place, jobId: string, isDesired: boolean, nowMs: number): void {
      const wanted = job(jobId);
      const record = of(place);
      // What is there may always have a fresh link.
      if (place.file?.jobId === jobId || record.written === wanted) {
        if (isDesired) record.begun = wanted;
        return;
      }
      const cause = causeOf(place, wanted);
      const goesBack = record.begun?.isReleased === true && wanted.number < record.begun.number;
      if (goesBack) checkReason(place, cause);
      if (record.begun !== wanted) writes.push({ place: place.name, text: `${wanted.version} at ${nowMs}` });
      record.begun = wanted;
    },
    written(place: Place, jobId: string): void {
      const record = of(place);
      if (record.written?.jobId !== jobId) record.isAnswered = false;
      record.written = job(jobId);
      record.proposed = null;
      if (place.settings.confirm === null) record.lastGood = record.written;
    },
    /** A write that has begun is canceled for another job. */
    replaced(place: Place, by: string, nowMs: number): void {
      if (isByPublish(place, by)) checkAge(place, nowMs);
    },
    /** The write of a job that is not there is prepared. */
    deploying(place: Place, jobId: string, nowMs: number): void {
      if (isByPublish(place, jobId)) checkReplacement(place, job(jobId), nowMs);
    },
    refused(place: Place): void {
      const record = of(place);
      record.begun = record.written = jobs.get(place.file?.jobId ?? '') ?? null;
    },
    proposed(place: Place, jobId: string): void {
      of(place).proposed = job(jobId);
    },
    closed(place: Place, jobId: string): void {
      const record = of(place);
      record.proposed = null;
      // It only refreshed a link.
      if (record.written === job(jobId)) return;
      record.rejected = job(jobId);
      record.begun = record.written;
    },
    asking(place: Place, jobId: string): void {
      if (of(place).isOff) fail(`${place.name} is asked although it is off`);
      if (place.settings.confirm === null) fail(`${place.name} is asked without a statusUrl`);
      if (of(place).written?.jobId !== jobId && place.file?.jobId !== jobId)
        fail(`${place.name} is asked about ${jobId}, which it doesn't have`);
    },
    served(place: Place, jobId: string): void {
      of(place).lastGood = job(jobId);
      if (of(place).withheld?.jobId === jobId) of(place).withheld = null;
      of(place).verdict = null;
      of(place).isAnswered = true;
    },
    seenOtherwise(place: Place, jobId: string, verdict: 'other' | 'unknown'): void {
      of(place).verdict = { jobId, verdict };
      of(place).isAnswered = true;
    },
    withheld(place: Place, jobId: string): void {
      const { verdict, lastGood, pin, isOff } = of(place);
      const what = `${place.name} withholds ${jobId}`;
      if (place.settings.confirm?.rollback !== true) fail(`${what} without rollback: auto`);
      if (verdict?.jobId !== jobId || verdict.verdict !== 'other') fail(`${what} without evidence`);
      if (pin !== null || isOff || lock !== null || rollback !== null) fail(`${what} against an operator's decision`);
      if (lastGood === null || lastGood.jobId === jobId) fail(`${what} with nothing to go back to`);
      of(place).withheld = job(jobId);
    },
    timePassed: checkLink,

    // ---- the end of a sequence
    /** The oldest accepted publish that a deployment which follows doesn't serve, as the model sees it. */
    unservedMs,
    /** The last publish before that time. A workflow gets a signal a little later than it is sent. */
    publishBefore: (ms: number) => publishTimesMs.findLast((each) => each <= ms) ?? null,
    /** Of publishes that are not exported yet, or held. */
    unexportedMs(): number | null {
      const times = [waitingSinceMs, running?.oldestMs, review?.oldestMs].filter((ms) => typeof ms === 'number');
      return times.length === 0 ? null : Math.min(...times);
    },
    isReviewing: () => review !== null,
    isExporting: () => running !== null,
  };

  function release(released: ModelJob): void {
    newest = released;
    if (rollback !== null && released.accepted > rollback.after) rollback = null;
  }

  function lockNow(): void {
    const { places } = site();
    const keeps = new Map<string, string | null>();
    for (const place of places) {
      const { pin, begun } = of(place);
      const before = lock?.keeps.get(place.name);
      const decided = before === undefined ? rollback?.job.jobId : before;
      // One that came after the lock gets what the others have, also if the site is locked again.
      if (lock !== null && before === undefined && pin === null) continue;
      if (place.listed) keeps.set(place.name, pin === null && decided !== undefined ? decided : (begun?.jobId ?? null));
    }
    const others = new Set(
      [...keeps.values(), newest?.jobId, ...(lock?.others ?? [])].filter((jobId) => typeof jobId === 'string'),
    );
    lock = { keeps, others };
  }

  function checkReason(place: Place, cause: string | null): void {
    const shown = site()
      .status()
      .deployments.find(({ name }) => name === place.name)?.desired.reason;
    // What waits for a person is shown first, so that it can be decided.
    const isShown =
      shown === cause || (cause === 'withheld' && (shown === 'waits-for-approval' || shown === 'rejected'));
    if (cause === null || !isShown) fail(`${place.name} goes back, and the state says ${shown} instead of ${cause}`);
  }
}
