import type { ForgeWriter, PullRequest } from '../../forge/forge.ts';
import { ForgeError } from '../../forge/forge-error.ts';
import { GitError } from '../../forge/git/git-error.ts';
import { isDatabaseAway } from '../store/database-away.ts';
import {
  changePullRequest,
  findPullRequestOfBranch,
  getPullRequest,
  lockPullRequest,
  type PullRequestRow,
} from '../store/pull-requests.ts';
import { enqueuePullRequestEvent } from './enqueue-webhooks.ts';
import { FORGE_AUTHOR, type ForgeContext, PULL_REQUEST_ID, pageOf } from './forge-context.ts';
import { openPullRequest } from './open-pull-request.ts';
import { refreshPullRequest } from './refresh-pull-request.ts';
import { openRepository, repositoryUrl } from './repository.ts';
import { bodyText, titleText } from './texts.ts';

/**
 * The forge of `file://` repositories. Pull requests are rows of the platform's database; their contents are read from
 * git, on a disk that all platform processes share. `publicUrl` is the base of the platform's pages.
 */
export function createEmbeddedForge(context: ForgeContext): ForgeWriter {
  const withPage = (row: PullRequestRow): PullRequest => toPullRequest(row, pageOf(context, row));
  return {
    findPullRequest: ({ repository, branch }) =>
      asForgeErrors(async () => {
        const url = repositoryUrl(repository);
        const row = await findPullRequestOfBranch(context.db, { repository: url, headBranch: branch });
        if (row === undefined) await openRepository(url);
        return row === undefined ? null : withPage(await refreshPullRequest(context, row));
      }),
    openPullRequest: (request) => asForgeErrors(async () => withPage(await openPullRequest(context, request))),
    updatePullRequest: (url, change) =>
      asForgeErrors(async () => {
        const row = await getPullRequest(context.db, pullRequestIdOf(url));
        if (row === undefined) throw noSuchPullRequest();
        return withPage(await editPullRequest(context, await refreshPullRequest(context, row), change));
      }),
    async gitCredentials() {
      return null;
    },
  };
}

/** Find it by id alone: the platform's public URL may have changed since the link was made. */
function pullRequestIdOf(url: string): string {
  const id = (URL.canParse(url) ? new URL(url).pathname : '').split('/').at(-1) ?? '';
  if (!PULL_REQUEST_ID.test(id)) throw noSuchPullRequest();
  return id;
}

function noSuchPullRequest(): ForgeError {
  return new ForgeError('There is no such pull request', { status: 404, retryable: false });
}

function toPullRequest(row: PullRequestRow, url: string): PullRequest {
  const { number, state, title, author, headBranch, headSha, baseBranch, mergeCommitSha } = row;
  return { url, number, state, title, author, headBranch, headSha, baseBranch, mergeCommitSha };
}

async function asForgeErrors<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof GitError) throw new ForgeError(error.message, { status: null, retryable: error.retryable });
    if (isDatabaseAway(error)) {
      throw new ForgeError("The embedded forge's database is away", { status: null, retryable: true });
    }
    throw error;
  }
}

/** Changes the title or the description; omitted fields stay. If nothing changes, no webhook is sent. */
async function editPullRequest(
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
