import { needsPerson, type SiteRow, summaryOf } from '../../../api/pages/site-list.ts';

const row = (site: string, changes: Partial<SiteRow> = {}): SiteRow => ({
  ...{ site, domain: undefined, phase: 'live', version: '1', linkExpiresAt: null, oldestUnserved: null },
  ...changes,
});
const waits = (at: string) => ({ oldestUnserved: { at, reason: 'exporting' as const } });

describe('the overview of sites', () => {
  it('names the site with the oldest publish that is not served', () => {
    const rows = [
      row('new', { phase: 'exporting', ...waits('2026-11-21T12:00:00Z') }),
      row('old', { phase: 'deploying', ...waits('2026-11-21T11:00:00Z') }),
      row('fresh'),
    ];
    const oldest = { site: 'old', at: '2026-11-21T11:00:00Z' };
    expect(summaryOf(rows)).toEqual({ behind: 2, oldest, unknown: 0, running: 2 });
  });

  it('counts a site that did not answer as unknown, unless it was never published', () => {
    const rows = [
      row('silent', { oldestUnserved: undefined }),
      row('idle', { phase: 'idle', oldestUnserved: undefined }),
    ];
    expect(summaryOf(rows)).toEqual({ behind: 0, oldest: undefined, unknown: 1, running: 0 });
  });

  it('knows which phases wait for a person', () => {
    const phases = ['failed', 'review', 'locked', 'live', 'exporting', undefined];
    expect(phases.map((phase) => needsPerson(row('docs', { phase })))).toEqual([true, true, true, false, false, false]);
  });
});
