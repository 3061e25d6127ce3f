import type { CrawlStore } from '../../../exporter/ports.ts';
import { SKIPPED_RANK } from '../../../exporter/urls/resource-rank.ts';
import { type CrawlStoreFixture, findingsOf, found, useCrawl } from './crawl-fixture.ts';

/** The frontier's contract for URLs that rules skip. */
export function frontierRulesContract(fixture: CrawlStoreFixture): void {
  const crawl = useCrawl(fixture);
  const { add, lease } = crawl;
  let store: CrawlStore;
  let jobId: string;

  beforeEach(() => {
    ({ store, jobId } = crawl);
  });

  it('counts no attempt that was lost with its worker', async () => {
    await add(found('/a'));
    const [leased] = await lease('one');
    await store.releaseLeases(jobId, ['another']);
    expect(await lease('two')).toEqual([]);
    await store.releaseLeases(jobId, ['one']);
    expect(await lease('two')).toMatchObject([{ id: leased?.id, attempts: 1 }]);
  });

  it('returns the query strings of each path, except skipped ones and guesses, and counts the guesses', async () => {
    const skipped = { rank: SKIPPED_RANK, skip: 'queries' };
    const guess = found('/a?guess', { rank: 0 });
    await add(found('/'), found('/a?x=1'), found('/a?y=?2'), found('/a?z', skipped), found('/b?'), guess);
    expect((await store.scopeCounts(jobId)).variants).toEqual(
      new Map([
        ['https://d.example/a', new Set(['?x=1', '?y=?2'])],
        ['https://d.example/b', new Set(['?'])],
      ]),
    );
    expect((await store.scopeCounts(jobId)).guessCount).toBe(1);
  });

  it('lists skipped URLs by reason, the most frequent first, with the first URLs in order as examples', async () => {
    const skipped = (path: string, skip: string) => found(path, { skip, rank: 0 });
    await add(found('/'), skipped('/x', 'too deep'), ...['/c', '/a', '/b'].map((path) => skipped(path, 'robots')));
    expect((await store.scopeCounts(jobId)).skips).toEqual(
      new Map([
        ['robots', 3],
        ['too deep', 1],
      ]),
    );
    expect((await store.crawlFindings(findingsOf(jobId))).skips).toEqual([
      { reason: 'robots', count: 3, examples: ['https://d.example/a', 'https://d.example/b'] },
      { reason: 'too deep', count: 1, examples: ['https://d.example/x'] },
    ]);
  });
}
