import type { DesiredReason } from '../../contract/site-state.ts';
import type { Deployment, Job, State } from './state.ts';

/** The part of a site's state that decides what its deployments should have. */
export type Steering = Pick<
  State,
  'jobs' | 'newest' | 'rollback' | 'lock' | 'settled' | 'linkTrouble' | 'refreshAskedMs'
> & {
  readonly deployments: readonly Deployment[];
};

/** What a deployment should have. `waitsFor`: a newer job that it doesn't get yet. */
export type Desired = { job: Job | null; reason: DesiredReason; waitsFor: Job | null };

/**
 * What a deployment should have, by what operators and Galley have decided. Pure: it only compares.
 * In this order: a pin, a lock, a rollback, the earlier waves, what the deployment was seen not to serve, an approval.
 */
export function desiredVersion(site: Steering, deployment: Deployment): Desired {
  const { pin, place, begun, written, proposed, withheld, lastGood } = deployment;
  const { lock } = site;
  const rollback = rollbackInForce(site);
  const newest = jobOf(site, site.newest);
  const kept = jobOf(site, withheld !== null && withheld.jobId === begun ? lastGood : begun);
  const keep = (reason: DesiredReason, waitsFor: Job | null = null): Desired => ({ job: kept, reason, waitsFor });
  if (pin !== null) {
    const pinned = pinnedJob(site, deployment);
    // Without that job nothing new is written; the link of what is there stays fresh.
    if (pinned === null)
      return { job: jobOf(site, (proposed ?? written)?.jobId ?? null), reason: 'pinned', waitsFor: newest };
    return { job: pinned, reason: 'pinned', waitsFor: newerThan(newest, pinned) };
  }
  if (lock !== null) {
    const locked = jobOf(site, place in lock.keeps ? (lock.keeps[place] ?? null) : lock.jobId);
    return { job: locked, reason: 'locked', waitsFor: newerThan(newest, locked) };
  }
  if (rollback !== null) {
    const job = jobOf(site, rollback.jobId);
    return { job, reason: 'rolled-back', waitsFor: newerThan(newest, job) };
  }
  if (newest === null) return keep('nothing');
  return gated(site, deployment, { newest, kept, keep });
}

/** The rollback, unless something was published after the command and is exported. */
export function rollbackInForce(site: Pick<Steering, 'jobs' | 'newest' | 'rollback'>): Steering['rollback'] {
  const { newest, rollback } = site;
  return rollback !== null && (jobOf(site, newest)?.upTo ?? 0) <= rollback.after ? rollback : null;
}

/** What the gates of a new version let through: waves, what the deployment didn't serve, approvals. */
function gated(
  site: Steering,
  { wave, withheld, lastGood, rejected, approve, approved }: Deployment,
  { newest, kept, keep }: { newest: Job; kept: Job | null; keep: (reason: DesiredReason, waitsFor: Job) => Desired },
): Desired {
  const open = vouchedFor(site, wave, newest);
  if (open === null || isNewer(kept, open)) {
    const bad = jobOf(site, withheld?.jobId ?? null);
    const wentBack = bad !== null && kept !== null && isNewer(bad, kept);
    return keep(wentBack ? 'withheld' : 'waits-for-wave', newest);
  }
  if (withheld?.jobId === open.jobId) return { job: jobOf(site, lastGood), reason: 'withheld', waitsFor: newest };
  if (rejected === open.jobId) return keep('rejected', open);
  if (approve && approved !== open.jobId && kept?.jobId !== open.jobId) return keep('waits-for-approval', open);
  if (open.jobId === newest.jobId) return { job: open, reason: 'newest', waitsFor: null };
  return { job: open, reason: 'waits-for-wave', waitsFor: newest };
}

/**
 * The newest job that all deployments of earlier waves have: served, or written if nothing says what they serve. Null if one
 * has none yet, or if a wave has no deployment that can vouch, because all are off or pinned.
 */
function vouchedFor({ jobs, deployments }: Steering, wave: number, newest: Job): Job | null {
  const before = deployments.filter((each) => each.wave < wave);
  let least = newest;
  for (const earlier of new Set(before.map((each) => each.wave))) {
    const vouching = before.filter((each) => each.wave === earlier && follows(each));
    if (vouching.length === 0) return null;
    for (const { lastGood } of vouching) {
      const job = jobs.find(({ jobId }) => jobId === lastGood);
      // A job that was only found at the service vouches for nothing: perhaps a guard held it.
      if (job === undefined || job.upTo === 0) return null;
      if (job.upTo < least.upTo) least = job;
    }
  }
  return least;
}

/** Whether it should get new versions: an operator neither pinned it nor switched it off. */
export function follows({ off, pin }: Pick<Deployment, 'off' | 'pin'>): boolean {
  return !off && pin === null;
}

/** Whether a publish decides it: neither a person nor an earlier answer of the deployment. */
export function isByPublish(reason: DesiredReason): boolean {
  return reason === 'newest' || reason === 'waits-for-wave';
}

/** The job of a deployment's pin; null without a pin, or if no job of that version is known. */
export function pinnedJob({ jobs }: Pick<Steering, 'jobs'>, { pin }: Pick<Deployment, 'pin'>): Job | null {
  return (pin !== null && jobs.find((job) => job.version === pin)) || null;
}

export function jobOf({ jobs }: Pick<Steering, 'jobs'>, jobId: string | null): Job | null {
  return jobs.find((job) => job.jobId === jobId) ?? null;
}

function isNewer(a: Job | null, b: Job): boolean {
  return a !== null && a.upTo > b.upTo;
}

function newerThan(newest: Job | null, job: Job | null): Job | null {
  return newest !== null && newest.jobId !== job?.jobId ? newest : null;
}
