import { condition, continueAsNew, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import type { PublishedSignal } from '../../contract/publish-event.ts';

const published = defineSignal<[PublishedSignal]>('published');
const pause = defineUpdate<string>('pause');

/**
 * Continues as new after every signal and update, with a slow workflow task, so that signals arrive while a run closes. The
 * server rejects some of them, or the update that such a task handled.
 */
export async function exportSite(input: { site: string }): Promise<void> {
  let signalled = false;
  setHandler(published, () => {
    signalled = true;
  });
  setHandler(pause, () => {
    signalled = true;
    return 'paused';
  });
  await condition(() => signalled);
  let sum = 0;
  for (let count = 0; count < 3_000_000; count += 1) sum += count % 7;
  await continueAsNew<typeof exportSite>(sum >= 0 ? input : { site: '' });
}
