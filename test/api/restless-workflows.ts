import { condition, continueAsNew, defineSignal, setHandler } from '@temporalio/workflow';
import type { PublishedSignal } from '../../contract/publish-event.ts';

const published = defineSignal<[PublishedSignal]>('published');

/**
 * Continues as new after every signal, with a slow workflow task, so that signals arrive while a run closes and the server
 * rejects them.
 */
export async function exportSite(input: { site: string }): Promise<void> {
  let signalled = false;
  setHandler(published, () => {
    signalled = true;
  });
  await condition(() => signalled);
  let sum = 0;
  for (let count = 0; count < 3_000_000; count += 1) sum += count % 7;
  await continueAsNew<typeof exportSite>(sum >= 0 ? input : { site: '' });
}
