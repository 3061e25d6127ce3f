import { jest } from '@jest/globals';
import { Registry } from 'prom-client';
import { addSiteMetrics } from '../../api/site-metrics.ts';
import type { ListedSite } from '../../contract/site-state.ts';

const listed: ListedSite = {
  site: 'docs',
  phase: 'live',
  linkExpiresAtMs: null,
  refreshDueAtMs: null,
  servedPublishAtMs: null,
  oldestUnserved: null,
};

afterEach(() => void jest.useRealTimers());

test('the oldest publish that is not served has an age and a reason, and 0 without one', async () => {
  jest.useFakeTimers({ now: 1_000_000, doNotFake: ['nextTick', 'setImmediate'] });
  const registry = new Registry();
  let sites = [listed, { ...listed, site: 'blog', oldestUnserved: { atMs: 940_000, reason: 'approval' as const } }];
  addSiteMetrics(registry, { list: async () => sites, configured: 2 });
  const unserved = async () =>
    (await registry.metrics()).split('\n').filter((line) => /^galley_site_\w*unserved/.test(line));
  expect(await unserved()).toEqual([
    'galley_site_oldest_unserved_seconds{site="docs"} 0',
    'galley_site_oldest_unserved_seconds{site="blog"} 60',
    'galley_site_unserved_reason{site="blog",reason="approval"} 1',
  ]);
  sites = [listed];
  jest.advanceTimersByTime(10_000);
  expect(await unserved()).toEqual(['galley_site_oldest_unserved_seconds{site="docs"} 0']);
});

test('a link is late halfway between its due refresh and its expiry, but never within a minute', async () => {
  const registry = new Registry();
  const sites = [
    { ...listed, linkExpiresAtMs: 86_400_000, refreshDueAtMs: 72_000_000 },
    { ...listed, site: 'blog', linkExpiresAtMs: 60_000, refreshDueAtMs: 30_000 },
    { ...listed, site: 'shop' },
  ];
  addSiteMetrics(registry, { list: async () => sites, configured: 3 });
  const metrics = await registry.metrics();
  expect(metrics.split('\n').filter((line) => line.startsWith('galley_site_link_late'))).toEqual([
    'galley_site_link_late_timestamp_seconds{site="docs"} 79200',
    'galley_site_link_late_timestamp_seconds{site="blog"} 90',
  ]);
});
