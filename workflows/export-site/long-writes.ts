import { CancellationScope, isCancellation } from '@temporalio/workflow';
import { TARGETS } from '../../contract/target-kind.ts';
import { waitAtMost } from '../entity/coroutines.ts';
import type { SiteRun } from './run.ts';
import type { SiteDeployment } from './state.ts';
import { setWriting, wantedJobId, writeFailed, writeReplaced } from './targets.ts';

/** A deploy waits this long for deployments that may take long; then it goes on, and they are `writing`. */
const AWAITED_MS = 10_000;

/**
 * Writes a job to a deployment that may take long, such as a folder that gets all files. A later write to it cancels this
 * one and begins once this one has ended.
 */
export function writeLong(
  run: SiteRun,
  target: SiteDeployment,
  jobId: string,
  write: () => Promise<string | null>,
): Promise<string | null> {
  const { valuesFile } = target;
  if (replacesWrite(run, target, jobId)) writeReplaced(target);
  run.longWrites.get(valuesFile)?.scope.cancel();
  const earlier = run.lastWrites.get(valuesFile) ?? Promise.resolve();
  // Not a part of the refresh or the update that began it.
  return CancellationScope.nonCancellable(async () => {
    const scope = new CancellationScope();
    run.longWrites.set(valuesFile, { scope, jobId });
    setWriting(target, true);
    const turn = earlier
      .then(() => scope.run(write))
      .catch((error: unknown) => {
        if (!isCancellation(error)) throw error;
        if (run.longWrites.get(valuesFile)?.scope === scope) writeFailed(target, 'the write was interrupted');
        return null;
      })
      .finally(() => {
        if (run.longWrites.get(valuesFile)?.scope !== scope) return;
        run.longWrites.delete(valuesFile);
        setWriting(target, false);
        run.refreshChanges++;
      });
    run.lastWrites.set(valuesFile, turn);
    return await turn;
  });
}

/**
 * Whether a write of this job has to replace a running one of a job that is no longer wanted. A deployment with a link gets
 * every write anyway.
 */
export function replacesWrite({ longWrites, state }: SiteRun, target: SiteDeployment, jobId: string): boolean {
  const running = longWrites.get(target.valuesFile);
  if (running === undefined || running.jobId === jobId || TARGETS[target.kind].keepsLink) return false;
  return running.jobId !== wantedJobId(state, target);
}

/** Waits for these writes, but not for long: one that hangs doesn't delay the next export. */
export async function awaitLongWrites(
  run: SiteRun,
  writes: readonly Promise<string | null>[],
): Promise<(string | null)[]> {
  if (writes.length === 0) return [];
  const done: (string | null)[] = [];
  let pending = writes.length;
  for (const write of writes) {
    void write.then((result) => {
      done.push(result);
      pending--;
    });
  }
  await CancellationScope.nonCancellable(() =>
    waitAtMost(() => pending === 0, AWAITED_MS, `deployments of ${run.site} that take long`),
  );
  return [...done];
}
