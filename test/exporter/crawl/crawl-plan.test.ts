import { crawlDelayMs, crawlPlan } from '../../../exporter/crawl/crawl-plan.ts';

const LIMITS = { soloCrawlMs: 4_000, activityMs: 50_000, parallelActivities: 4 };
const slow = { robots: 'respect', robotsTxt: 'User-agent: *\nCrawl-delay: 10' } as const;

describe('crawlPlan', () => {
  it('shares a crawl among activities where nothing speaks against it', () => {
    expect(crawlPlan(LIMITS, { robots: 'respect', robotsTxt: '' })).toEqual(LIMITS);
  });

  it('lets one activity crawl at a time, for long enough, where the origin wants a delay', () => {
    expect(crawlPlan(LIMITS, slow)).toEqual({ soloCrawlMs: 200_000, activityMs: 200_000, parallelActivities: 1 });
    const quick = { ...slow, robotsTxt: 'User-agent: *\nCrawl-delay: 1' };
    expect(crawlPlan(LIMITS, quick)).toEqual({ soloCrawlMs: 50_000, activityMs: 50_000, parallelActivities: 1 });
  });

  it('knows no delay where the project ignores robots.txt', () => {
    expect(crawlDelayMs(slow)).toBe(10_000);
    expect(crawlDelayMs({ ...slow, robots: 'ignore' })).toBe(0);
    expect(crawlPlan(LIMITS, { ...slow, robots: 'ignore' })).toEqual(LIMITS);
  });
});
