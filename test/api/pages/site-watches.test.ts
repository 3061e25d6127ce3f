import { createSiteWatches } from '../../../api/pages/site-watches.ts';
import type { SiteStatus } from '../../../api/site-status.ts';
import { siteStatus } from './site-fixture.ts';

/** Reads that the test resolves in order. */
function scriptedReads() {
  const waiting: ((status: SiteStatus) => void)[] = [];
  const arrivals: (() => void)[] = [];
  const read = () =>
    new Promise<SiteStatus>((resolve) => {
      waiting.push(resolve);
      arrivals.shift()?.();
    });
  const resolveNext = async (status: SiteStatus): Promise<void> => {
    if (waiting.length === 0) await new Promise<void>((resolve) => arrivals.push(resolve));
    waiting.shift()?.(status);
    await new Promise(setImmediate);
  };
  return { read, resolveNext };
}

describe('the viewers of a site', () => {
  it('get no state that is older than the page that they opened', async () => {
    const { read, resolveNext } = scriptedReads();
    const watches = createSiteWatches({ read, pollMs: 60_000 });
    const phases: Record<string, string[]> = { first: [], second: [] };
    const watch = (name: string) => watches.watch('docs', ({ phase }) => phases[name]?.push(phase) !== undefined);
    const stops = [watch('first')];
    // The second viewer joins while a read that started before its page is pending.
    const early = resolveNext(siteStatus({ phase: 'live' }));
    stops.push(watch('second'));
    await early;
    await resolveNext(siteStatus({ phase: 'paused' }));
    expect(phases).toEqual({ first: ['live', 'paused'], second: ['paused'] });
    // The third viewer joins between two reads, and triggers a new one at once.
    phases.third = [];
    stops.push(watch('third'));
    await resolveNext(siteStatus({ phase: 'paused' }));
    expect(phases).toEqual({ first: ['live', 'paused'], second: ['paused'], third: ['paused'] });
    for (const stop of stops) stop?.();
  });

  it('get an unchanged state again if they could not take it', async () => {
    const { read, resolveNext } = scriptedReads();
    const watches = createSiteWatches({ read, pollMs: 1 });
    const offered: string[] = [];
    const stop = watches.watch('docs', ({ phase }) => offered.push(phase) === 3);
    for (let reads = 0; reads < 5; reads += 1) await resolveNext(siteStatus({ phase: 'live' }));
    expect(offered).toEqual(['live', 'live', 'live']);
    stop?.();
  });
});
