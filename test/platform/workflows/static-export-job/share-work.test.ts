import {
  crawlersFor,
  crawlRoundMs,
  rewritersFor,
} from '../../../../platform/workflows/static-export-job/share-work.ts';

describe('sharing an export among workers', () => {
  it('uses one worker for a small site and every allowed worker for a large one', () => {
    expect([0, 1, 100, 101, 350, 100_000].map((queued) => crawlersFor(queued, 4))).toEqual([1, 1, 1, 2, 4, 4]);
    expect([0, 1, 6, 7, 1_000].map((batches) => rewritersFor(batches, 4))).toEqual([1, 1, 1, 2, 4]);
  });

  it('starts with short rounds and makes later rounds longer', () => {
    const rounds = [1, 2, 3, 4, 5, 100].map((round) => crawlRoundMs(round, { soloCrawlMs: 4_000, activityMs: 50_000 }));
    expect(rounds).toEqual([4_000, 8_000, 16_000, 32_000, 50_000, 50_000]);
  });
});
