import { RecentDeliveries } from '../../api/recent-deliveries.ts';
import type { DeliveryRecord } from '../../contract/site-state.ts';

const DAY_MS = 24 * 3_600_000;

const at = (second: number): string => new Date(Date.UTC(2026, 10, 21, 12, 0, second)).toISOString();

function verified(id: string, second = 0, workflowId: string | null = 'export:docs'): DeliveryRecord {
  return { id, source: 'github', at: at(second), outcome: 'verified', workflowId, topic: `topic of ${id}` };
}

const started = (id: string, second: number): DeliveryRecord => {
  const { topic: _, ...record } = verified(id, second);
  return { ...record, outcome: 'started' };
};

const ids = (records: readonly DeliveryRecord[]): string[] => records.map(({ id }) => id);

describe('the recent deliveries of a receiver', () => {
  test('are the newest of each site, without repeats', () => {
    const recent = new RecentDeliveries();
    for (let index = 0; index < 120; index += 1) recent.add('docs', verified(`d${index}`, index), DAY_MS);
    recent.add('docs', verified('d100', 130), DAY_MS);
    expect(recent.of('docs')).toHaveLength(50);
    expect(ids(recent.of('docs')).slice(0, 3)).toEqual(['d100', 'd119', 'd118']);
    expect(recent.of('other')).toEqual([]);
  });

  test('are limited over all sites, and those of the least active sites are dropped', () => {
    const recent = new RecentDeliveries();
    for (let site = 0; site < 450; site += 1) {
      for (let index = 0; index < 50; index += 1) recent.add(`site-${site}`, verified(`d${index}`, index), DAY_MS);
    }
    expect(recent.of('site-0')).toEqual([]);
    expect(recent.of('site-449')).toHaveLength(50);
    const kept = Array.from({ length: 450 }, (_, site) => recent.of(`site-${site}`).length);
    expect(kept.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(20_000);
  });

  test('do not count a delivery as repeated if it was filtered or rejected before', () => {
    const recent = new RecentDeliveries();
    expect(recent.add('docs', verified('a', 0, null), DAY_MS)).toBe('new');
    expect(recent.add('docs', verified('a', 1), DAY_MS)).toBe('new');
    expect(recent.add('docs', verified('a', 2), DAY_MS)).toBe('repeated');
    expect(recent.add('docs', { ...verified('a', 3), source: 'token' }, DAY_MS)).toBe('new');
    expect(recent.add('blog', verified('a', 3), DAY_MS)).toBe('new');
    expect(recent.add('docs', verified('a', 33), 30_000)).toBe('new');
  });

  test('have truncated texts', () => {
    const recent = new RecentDeliveries();
    recent.add('docs', { ...verified('a'), topic: 'x'.repeat(100_000), why: 'y'.repeat(100_000) }, DAY_MS);
    expect(JSON.stringify(recent.of('docs')).length).toBeLessThan(1_000);
  });
});

describe('a workflow’s list', () => {
  test('is completed with details of its deliveries, and with deliveries that it does not have yet', () => {
    const recent = new RecentDeliveries();
    for (const [index, id] of ['a', 'b', 'c'].entries()) recent.add('docs', verified(id, index), DAY_MS);
    const merged = recent.merge('docs', [started('b', 1), started('a', 0)], { current: true });
    expect(merged.map(({ id, outcome, topic }) => [id, outcome, topic])).toEqual([
      ['c', 'verified', 'topic of c'],
      ['b', 'started', 'topic of b'],
      ['a', 'started', 'topic of a'],
    ]);
  });

  test('does not get deliveries from before the start of its newest entry', () => {
    const recent = new RecentDeliveries();
    recent.add('docs', verified('old', 1), DAY_MS);
    recent.add('docs', verified('pull request', 2, 'agent:docs:changelog:x'), DAY_MS);
    recent.add('docs', { ...verified('rejected', 3, null), why: 'answered 503' }, DAY_MS);
    recent.add('docs', { ...verified('filtered', 4, null), outcome: 'filtered' }, DAY_MS);
    const listed = [started('new', 9)];
    expect(ids(recent.merge('docs', listed, { current: true }))).toEqual([
      'new',
      'filtered',
      'rejected',
      'pull request',
    ]);
    expect(ids(recent.merge('docs', [], { current: false }))).toContain('old');
  });
});
