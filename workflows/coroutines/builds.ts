import { patched, workflowInfo } from '@temporalio/workflow';

type Settings = { build?: string | undefined };

/**
 * The build of the worker code that carries out the current workflow task. Temporal keeps it in the history, so that it is
 * the same in a replay. Empty where the worker told none.
 */
export function currentBuild(): string {
  return workflowInfo().currentDeploymentVersion?.buildId ?? '';
}

/**
 * Whether another build than the run's first one carries it out by now: the run then continues as new, so that none
 * carries old branches along.
 */
export function isOtherBuild(first: string): boolean {
  // Releases before 0.2 learned the build from the worker that served an activity, which may be a third one.
  return currentBuild() !== first && patched('build-of-the-task-2026-11');
}

/**
 * Whether settings come from a worker of another build than the ones before. Only workers of releases before 0.2 tell
 * theirs.
 */
export function toldOtherBuild(before: Settings | null, now: Settings): boolean {
  return before?.build !== undefined && now.build !== undefined && before.build !== now.build;
}
