import { sleep } from '@temporalio/workflow';

/** After a rename, webhooks of the old name are accepted for so long. */
const ACCEPTED_FOR = '30 days';

/** The old name of a renamed site. It does nothing: receivers find both names in its memo (`RenamedMemo`). */
export async function renamedSite(): Promise<void> {
  await sleep(ACCEPTED_FOR, { summary: 'webhooks of the old name are accepted' });
}
