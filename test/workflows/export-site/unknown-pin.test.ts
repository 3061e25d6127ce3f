import { jobBefore } from '../../../workflows/export-site/confirmations.ts';
import { nextRefreshAtMs } from '../../../workflows/export-site/schedule.ts';
import { type MutableState, newState, type SiteDeployment } from '../../../workflows/export-site/state.ts';
import { adoptTargets, jobsInUse, pinSearchAtMs, rememberPinned } from '../../../workflows/export-site/targets.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 12);
const settings = { refreshMargin: 0.2, minRefreshIntervalMs: 30_000 };

/** A deployment that was never written, with a pin to a version that was never exported. */
function target(changes: Partial<SiteDeployment> = {}): SiteDeployment {
  const [fresh] = adoptTargets([], ['values.yaml']);
  if (!fresh) throw new Error('No target was created');
  return { ...fresh, pin: 'v9', held: true, ...changes };
}

function state(targets: SiteDeployment[]): MutableState {
  const live = {
    jobId: 'new',
    version: 'v2',
    exportedAt: new Date(NOW_MS).toISOString(),
    rolledBack: false,
    createdAt: null,
  };
  return { ...newState(NOW_MS), live, targets };
}

describe('a pin whose version is unknown', () => {
  test('is searched for at once', () => {
    const site = state([target()]);
    expect(nextRefreshAtMs({ site: 'docs', state: site, settings })).toBe(0);
  });

  test('needs no refresh once the search has found nothing, because no link is in use', () => {
    const site = state([target({ searchedPin: 'v9' })]);
    expect(jobsInUse(site)).toEqual([]);
    expect(nextRefreshAtMs({ site: 'docs', state: site, settings })).toBe(Number.POSITIVE_INFINITY);
  });

  test('is searched for again after a search that failed', () => {
    const again = target({ searchedPin: 'v9', searchAgainAtMs: NOW_MS + 60_000 });
    const site = state([again]);
    expect(pinSearchAtMs(site, again)).toBe(NOW_MS + 60_000);
    expect(nextRefreshAtMs({ site: 'docs', state: site, settings })).toBe(NOW_MS + 60_000);
  });

  test('is no longer searched for once its job is known', () => {
    const known = target();
    const site = { ...state([known]), jobs: [{ jobId: 'old', version: 'v9', exportedAt: null }] };
    expect(pinSearchAtMs(site, known)).toBeNull();
  });

  test('is no version that an automatic rollback goes to', () => {
    const site = state([target()]);
    site.jobs = ['v2', 'v1'].map((version) => ({
      jobId: version === 'v2' ? 'new' : 'before',
      version,
      exportedAt: null,
    }));
    rememberPinned(site, 'old', 'v9');
    expect(jobBefore(site)).toMatchObject({ version: 'v1' });
    expect(jobsInUse(site)).toEqual(['old']);
  });
});
