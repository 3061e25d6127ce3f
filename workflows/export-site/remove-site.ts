import type { SiteState } from '../../contract/site-state.ts';
import { waitAtMost } from '../coroutines/wait-at-most.ts';
import { cancelJob } from './export-cycle.ts';
import { stateOf } from './presence.ts';
import type { SiteRun } from './site-run.ts';

/** A job that is being started is known by then, or the service is away and nobody can cancel it. */
const START_PATIENCE_MS = 30_000;

/**
 * Ends the site: what waits to be exported is dropped, and the export under way is cancelled at the service. What is
 * deployed stays, and its link is no longer refreshed. Returns the state that the site ended in.
 */
export async function removeSite(run: SiteRun): Promise<SiteState> {
  const state = stateOf(run);
  run.removed = true;
  const { exporting } = run.memory;
  if (exporting !== null) {
    const known = (): boolean => exporting.stage !== 'starting' || run.memory.exporting !== exporting;
    if (!known()) await waitAtMost(known, START_PATIENCE_MS, 'the start of the export that is to be cancelled');
    const { stage, jobId } = exporting;
    if (stage === 'polling' && jobId !== null) await cancelJob(jobId, 'the site was removed');
  }
  return state;
}
