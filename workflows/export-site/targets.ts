import type { PinnedFile } from '../../contract/settings.ts';
import type { SiteMemory, Target } from './site-memory.ts';

/** Which job each deployment is to serve: pure functions over the memory. */

/** Keeps what is known of the deployments that are still configured and adds the new ones. */
export function adoptTargets(targets: readonly Target[], valuesFiles: readonly string[]): Target[] {
  return valuesFiles.map(
    (valuesFile) => targets.find((target) => target.valuesFile === valuesFile) ?? newTarget(valuesFile),
  );
}

/**
 * Takes over the pins as they stand in the files: one that names another version than the newest holds its deployment.
 * So with what is switched off or on. Tells whether any has changed.
 */
export function adoptPins(memory: SiteMemory, pins: readonly PinnedFile[]): boolean {
  const newest = memory.live?.version ?? null;
  let changed = false;
  for (const { valuesFile, pin: text, off } of pins) {
    const pin = text?.slice(0, 200) ?? null;
    const target = memory.targets.find((candidate) => candidate.valuesFile === valuesFile);
    if (target === undefined) continue;
    if (adoptSwitch(memory, target, off)) changed = true;
    if (target.pin === pin) continue;
    target.pin = pin;
    target.held = pin !== null && newest !== null && pin !== newest;
    changed = true;
  }
  return changed;
}

/**
 * Takes over whether an operator has switched a deployment off since it was deployed to. One that is switched on again
 * gets its job anew, because the file may be an old copy. Tells whether anything has changed.
 */
export function adoptSwitch(memory: SiteMemory, target: Target, off: boolean | undefined): boolean {
  if (off === undefined || off === target.off || (off && target.jobId === null)) return false;
  target.off = off;
  const isKnown = !target.held || memory.jobs.some((job) => job.version === target.pin);
  if (!off && isKnown) target.jobId = null;
  return true;
}

/** The newest job, or the one that the operator's pin asks for. Null where nothing is known to write. */
export function wantedJobId(memory: SiteMemory, target: Target): string | null {
  if (memory.live === null) return null;
  if (!target.held || target.pin === null || target.pin === memory.live.version) return memory.live.jobId;
  // An unknown version leaves what is deployed, and its link is kept fresh.
  return memory.jobs.find((job) => job.version === target.pin)?.jobId ?? target.jobId;
}

/** The jobs whose links are in use, each once; the newest one where there is no deployment to ask. */
export function jobsInUse(memory: SiteMemory): string[] {
  if (memory.live === null) return [];
  if (memory.targets.length === 0) return [memory.live.jobId];
  return [...new Set(memory.targets.flatMap((target) => wantedJobId(memory, target) ?? []))];
}

/** Whether a deployment still has to be told of its job, its last try having been long enough ago. */
export function isBehind(memory: SiteMemory, target: Target, nowMs: number): boolean {
  const wanted = wantedJobId(memory, target);
  const behind = (wanted !== null && wanted !== target.jobId) || target.error !== null;
  return behind && (target.retryAtMs ?? 0) <= nowMs;
}

/**
 * When to search the service's jobs for a pin whose job isn't known: once per pin, and again after a search that failed.
 * Null if no search is needed.
 */
export function pinSearchAtMs(memory: SiteMemory, target: Target): number | null {
  if (!target.held || memory.jobs.some((job) => job.version === target.pin)) return null;
  return target.pin === target.searchedPin ? target.searchAgainAtMs : 0;
}

function newTarget(valuesFile: string): Target {
  return {
    valuesFile,
    jobId: null,
    version: null,
    updatedAt: null,
    pin: null,
    held: false,
    off: false,
    searchedPin: null,
    searchAgainAtMs: null,
    error: null,
    failedAt: null,
    failures: 0,
    retryAtMs: null,
  };
}
