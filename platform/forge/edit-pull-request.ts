import { changePullRequest, lockPullRequest, type PullRequestRow } from '../store/pull-requests.ts';
import { enqueuePullRequestEvent } from './enqueue-webhooks.ts';
import { FORGE_AUTHOR, type ForgeContext } from './forge-context.ts';
import { bodyText, titleText } from './texts.ts';

/** Changes the title or the description; omitted fields stay. If nothing changes, no webhook is sent. */
export async function editPullRequest(
  context: ForgeContext,
  row: PullRequestRow,
  change: { title?: string | undefined; body?: string | undefined },
): Promise<PullRequestRow> {
  return await context.db.transaction(async (tx) => {
    const before = await lockPullRequest(tx, row.id);
    if (before === undefined) return row;
    const title = change.title === undefined ? before.title : titleText(change.title);
    const body = change.body === undefined ? before.body : bodyText(change.body);
    const changes = {
      ...(title !== before.title && { title: { from: before.title } }),
      ...(body !== before.body && { body: { from: before.body } }),
    };
    if (Object.keys(changes).length === 0) return before;
    const after = (await changePullRequest(tx, row.id, { title, body })) ?? before;
    await enqueuePullRequestEvent(tx, context, after, { action: 'edited', changes, sender: FORGE_AUTHOR });
    return after;
  });
}
