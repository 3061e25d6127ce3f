import { createSiteWatches } from '../../../api/pages/site-watches.ts';
import type { SiteStatus } from '../../../api/site-status.ts';
import { siteStatus } from './site-fixture.ts';

/** Reads that the test answers, in their order. */
function scriptedReads() {
  const waiting: ((status: SiteStatus) => void)[] = [];
  const arrivals: (() => void)[] = [];
  const read = () =>
    new Promise<SiteStatus>((resolve) => {
      waiting.push(resolve);
      arrivals.shift()?.();
    });
  const answer = async (status: SiteStatus): Promise<void> => {
    if (waiting.length === 0) await new Promise<void>((resolve) => arrivals.push(resolve));
    waiting.shift()?.(status);
    await new Promise(setImmediate);
  };
  return { read, answer };
}

describe('the viewers of a site', () => {
  it('get no state older than the page that they opened', async () => {
    const { read, answer } = scriptedReads();
    const watches = createSiteWatches({ read, pollMs: 60_000 });
    const phases: Record<string, string[]> = { first: [], second: [] };
    const watch = (name: string) => watches.watch('docs', ({ phase }) => phases[name]?.push(phase));
    const stops = [watch('first')];
    // The second one joins while a read from before its page is under way.
    const early = answer(siteStatus({ phase: 'live' }));
    stops.push(watch('second'));
    await early;
    await answer(siteStatus({ phase: 'paused' }));
    expect(phases).toEqual({ first: ['live', 'paused'], second: ['paused'] });
    // A third joins during a pause between reads: it gets a new one at once.
    phases.third = [];
    stops.push(watch('third'));
    await answer(siteStatus({ phase: 'paused' }));
    expect(phases).toEqual({ first: ['live', 'paused'], second: ['paused'], third: ['paused'] });
    for (const stop of stops) stop?.();
  });
});
