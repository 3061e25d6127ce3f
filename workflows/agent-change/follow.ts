import { condition, isCancellation } from '@temporalio/workflow';
import { reviewKey } from '../../contract/pull-request-event.ts';
import { readFailure } from '../trouble/failures.ts';
import { followPullRequest } from './activity-proxies.ts';
import { addNote } from './change-memory.ts';
import type { ChangeRun } from './change-run.ts';
import { takeReading } from './news.ts';

/** A forge that refuses to tell (a token without rights) is asked again after this time, or with another configuration. */
const REFUSED_WAIT_MS = 3_600_000;

/**
 * Asks the forge how the pull request stands, slowly: webhooks tell within seconds, this is for those that were lost, or
 * came before the change could be found. Without a forge nothing is asked.
 */
export async function follow(run: ChangeRun): Promise<void> {
  const { memory } = run;
  let known: Parameters<typeof followPullRequest>[0]['known'] = null;
  for (;;) {
    await condition(() => run.settings.forge && memory.prLink !== null);
    const prLink = memory.prLink ?? '';
    try {
      const summary = `how does ${prLink} stand`.slice(0, 200);
      const reading = await followPullRequest.executeWithOptions({ summary }, [{ prLink, known }]);
      takeReading(memory, reading);
      const { state, title, reviews } = reading;
      known = { state, title, reviews: [...new Set(reviews.map(reviewKey))] };
    } catch (error) {
      if (isCancellation(error)) throw error;
      addNote(memory, `the forge doesn't tell how the pull request stands: ${readFailure(error).message}`);
      const { settings } = run;
      await condition(() => run.settings !== settings, REFUSED_WAIT_MS, { summary: 'the forge refused to tell' });
    }
  }
}
