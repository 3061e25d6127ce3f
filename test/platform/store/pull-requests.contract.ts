import { randomUUID } from 'node:crypto';
import type { Database } from '../../../platform/store/database.ts';
import {
  type DeliveryRow,
  insertDelivery,
  leaseDelivery,
  settleDelivery,
} from '../../../platform/store/forge-deliveries.ts';
import { addRequestedReviewers, listRequestedReviewers } from '../../../platform/store/pull-request-reviewers.ts';
import { findNewestReview, insertReview, listReviews } from '../../../platform/store/pull-request-reviews.ts';
import {
  endPullRequest,
  findPullRequestOfBranch,
  getPullRequest,
  insertPullRequest,
  listOpenPullRequests,
  type PullRequestRow,
} from '../../../platform/store/pull-requests.ts';
import type { StoreFixture } from './store-fixture.ts';

const SHA = 'a'.repeat(40);

/** The tests of the embedded forge's queries, which every kind of PostgreSQL must pass. */
export function pullRequestsContract(stores: StoreFixture): void {
  let db: Database;
  beforeAll(() => {
    ({ db } = stores);
  });

  const repository = () => `file:///srv/${randomUUID()}.git`;
  const open = (repositoryUrl: string, headBranch: string): Promise<PullRequestRow | undefined> =>
    db.transaction((tx) =>
      insertPullRequest(tx, {
        projectId: null,
        repository: repositoryUrl,
        author: 'galley',
        title: 'A title',
        body: '',
        headBranch,
        headSha: SHA,
        baseBranch: 'main',
        baseSha: SHA,
      }),
    );
  const opened = async (): Promise<PullRequestRow> => {
    const row = await open(repository(), 'one');
    if (row === undefined) throw new Error('The pull request was not opened');
    return row;
  };

  it('number pull requests per repository, and open one per branch for concurrent requests', async () => {
    const repositoryUrl = repository();
    const branches = Array.from({ length: 6 }, (_, index) => `branch-${index}`);
    const rows = await Promise.all([...branches, ...branches].map((branch) => open(repositoryUrl, branch)));
    const created = rows.filter((row) => row !== undefined);
    expect(created.map(({ number }) => number).sort()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(created.map(({ headBranch }) => headBranch).sort()).toEqual(branches);
    expect(created.every(({ id }) => /^pr_[0-9a-f]{32}$/.test(id))).toBe(true);
    expect((await open(repository(), 'branch-1'))?.number).toBe(1);
  });

  it('prefer the open pull request of a branch, and otherwise find the newest', async () => {
    const first = await opened();
    const branch = { repository: first.repository, headBranch: first.headBranch };
    await db.transaction((tx) => endPullRequest(tx, first.id, { state: 'closed', endedBy: 'operator' }));
    expect((await findPullRequestOfBranch(db, branch))?.id).toBe(first.id);
    const second = await open(first.repository, first.headBranch);
    expect((await findPullRequestOfBranch(db, branch))?.id).toBe(second?.id);
  });

  it('end a pull request once, but a merge in git overrides an earlier close', async () => {
    const row = await opened();
    const merge = { state: 'merged' as const, endedBy: null, mergeCommitSha: SHA, headSha: SHA, baseSha: SHA };
    const end = (how: Parameters<typeof endPullRequest>[2]) => db.transaction((tx) => endPullRequest(tx, row.id, how));
    const closes = await Promise.all([1, 2, 3].map(() => end({ state: 'closed', endedBy: 'operator' })));
    expect(closes.filter((each) => each !== undefined)).toHaveLength(1);
    const merges = await Promise.all([1, 2, 3].map(() => end(merge)));
    expect(merges.filter((each) => each !== undefined)).toHaveLength(1);
    expect(await end({ state: 'closed', endedBy: 'operator' })).toBeUndefined();
    expect(await getPullRequest(db, row.id)).toMatchObject({ state: 'merged', mergeCommitSha: SHA });
  });

  it('list each open pull request once, page by page', async () => {
    await db.execute("delete from pull_requests where state = 'open'");
    const repositoryUrls = [repository(), repository()].sort();
    for (const repositoryUrl of repositoryUrls) for (const branch of ['a', 'b', 'c']) await open(repositoryUrl, branch);
    const found: PullRequestRow[] = [];
    for (let after: PullRequestRow | undefined, more = true; more; after = found.at(-1)) {
      const rows = await listOpenPullRequests(db, { after, limit: 4 });
      found.push(...rows);
      more = rows.length > 0;
    }
    expect(found.map((row) => `${row.repository} ${row.number}`)).toEqual(
      repositoryUrls.flatMap((repositoryUrl) => [1, 2, 3].map((number) => `${repositoryUrl} ${number}`)),
    );
  });

  it('store each requested reviewer once, and reviews in their order', async () => {
    const { id } = await opened();
    const reviewers = [{ kind: 'team', name: 'ada' } as const, { kind: 'user', name: 'ada' } as const];
    for (const _ of [1, 2]) await addRequestedReviewers(db, id, reviewers);
    expect(await listRequestedReviewers(db, id)).toEqual([reviewers[1], reviewers[0]]);
    for (const body of ['1', '2', '3']) {
      const reviewer = body === '2' ? 'grace' : 'ada';
      await insertReview(db, { pullRequestId: id, reviewer, verdict: 'commented', body, commitSha: SHA });
    }
    expect((await listReviews(db, id, 10)).map(({ body }) => body)).toEqual(['1', '2', '3']);
    expect((await listReviews(db, id, 2)).map(({ body }) => body)).toEqual(['2', '3']);
    expect(await findNewestReview(db, { pullRequestId: id, reviewer: 'grace' })).toMatchObject({ body: '2' });
  });

  it('lease each delivery to one process, and deliveries of a project one after the other', async () => {
    const projects: string[] = [];
    for (const _ of [1, 2, 3]) projects.push((await stores.newProject()).projectId);
    for (let count = 0; count < 15; count += 1) {
      const projectId = projects[count % 3] ?? '';
      await insertDelivery(db, { id: randomUUID(), projectId, event: 'push', bodyJson: String(count) });
    }
    const busy = new Set<string>();
    const sent: DeliveryRow[] = [];
    async function work(): Promise<void> {
      for (;;) {
        const token = randomUUID();
        const row = await leaseDelivery(db, { token, leaseMs: 60_000 });
        if (row === undefined) return;
        expect([row.projectId, busy.has(row.projectId)]).toEqual([row.projectId, false]);
        busy.add(row.projectId);
        sent.push(row);
        // Lets the other workers lease meanwhile.
        await db.execute('select 1');
        busy.delete(row.projectId);
        await settleDelivery(db, { id: row.id, token, end: { kind: 'delivered' } });
      }
    }
    while (sent.length < 15) await Promise.all([work(), work(), work(), work()]);
    for (const project of projects) {
      const numbers = sent.filter(({ projectId }) => projectId === project).map(({ bodyJson }) => Number(bodyJson));
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    }
    expect(new Set(sent.map(({ id }) => id)).size).toBe(15);
  });

  it('ignore the end of a delivery from a process that lost its lease', async () => {
    const { projectId } = await stores.newProject();
    await insertDelivery(db, { id: randomUUID(), projectId, event: 'push', bodyJson: '{}' });
    const first = await leaseDelivery(db, { token: 'first', leaseMs: -1_000 });
    const second = await leaseDelivery(db, { token: 'second', leaseMs: 60_000 });
    expect(second?.id).toBe(first?.id);
    const id = first?.id ?? '';
    await settleDelivery(db, { id, token: 'first', end: { kind: 'failed', error: 'late' } });
    await settleDelivery(db, { id, token: 'second', end: { kind: 'delivered' } });
    const { rows } = await db.execute(
      `select delivered_at, failed_at, last_error from forge_deliveries where id = '${id}'`,
    );
    expect(rows).toEqual([{ delivered_at: expect.anything(), failed_at: null, last_error: null }]);
  });
}
