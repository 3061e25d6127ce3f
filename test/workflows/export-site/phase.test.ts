import type { SiteState } from '../../../contract/site-state.ts';
import { addRequest, nextRefreshAtMs } from '../../../workflows/export-site/schedule.ts';
import {
  type Exporting,
  type MutableState,
  newState,
  type SiteDeployment,
} from '../../../workflows/export-site/state.ts';
import { adoptPins, adoptTargets, isBehind, jobsInUse, wantedJobId } from '../../../workflows/export-site/targets.ts';
import { phaseOf, siteStateOf } from '../../../workflows/export-site/visibility.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const exportedAt = new Date(NOW_MS).toISOString();
const live = { jobId: 'new', version: 'v2', exportedAt, rolledBack: false, createdAt: null };

function exporting(stage: Exporting['stage']): Exporting {
  const publishes = addRequest(null, NOW_MS);
  const about = {
    cycle: 1,
    attempt: 1,
    domain: 'd',
    jobId: 'next',
    version: null,
    startedAtMs: NOW_MS,
    exportedAt: null,
  };
  return { ...about, stage, publishes, uncancellable: false, cancelling: false, idempotencyKey: null, createdAt: null };
}

function target(changes: Partial<SiteDeployment> = {}): SiteDeployment {
  const [fresh] = adoptTargets([], ['values.yaml']);
  if (!fresh) throw new Error('No target was created');
  return { ...fresh, jobId: 'new', version: 'v2', ...changes };
}

function state(changes: Partial<MutableState> = {}): MutableState {
  return { ...newState(NOW_MS), ...changes };
}

const refused = { message: 'The key was refused', status: 401, at: new Date(NOW_MS).toISOString() };
const waiting = { untilMs: 1, notBeforeMs: 0, failures: 1, keyRefused: false, waiting: true };

describe('the phase', () => {
  it.each<[string, Partial<MutableState>]>([
    ['idle', {}],
    ['debouncing', { pending: addRequest(null, 1) }],
    ['exporting', { exporting: exporting('starting'), live }],
    ['exporting', { exporting: exporting('polling') }],
    ['bundling', { exporting: exporting('bundling') }],
    ['deploying', { exporting: exporting('deploying') }],
    ['exporting', { exporting: exporting('polling'), paused: true }],
    ['exporting', { exporting: exporting('polling'), backOff: { ...waiting, waiting: false } }],
    ['failed', { exporting: exporting('polling'), backOff: waiting }],
    ['failed', { pending: addRequest(null, 1), backOff: waiting, live }],
    ['paused', { paused: true, live, pending: addRequest(null, 1) }],
    ['paused', { paused: true, exporting: exporting('polling'), backOff: waiting }],
    ['live', { live, targets: [target()] }],
    ['live', { live, targets: [] }],
    ['live', { live, targets: [target()], refreshError: refused }],
    ['failed', { live, exporting: exporting('starting'), backOff: { ...waiting, keyRefused: true } }],
    ['held', { live, targets: [target(), target({ held: true, pin: 'v1' })] }],
    ['off', { live, targets: [target({ off: true })] }],
    ['live', { live, targets: [target({ off: true }), target()] }],
    ['failed', { live, targets: [target({ error: 'disk full' })] }],
    ['live', { live, targets: [target({ error: 'disk full' }), target()] }],
  ])('is %s', (phase, changes) => {
    expect(phaseOf(state(changes))).toBe(phase);
  });
});

const settings = { refreshMargin: 0.2, minRefreshIntervalMs: 0 };

function stateOf(changes: Partial<MutableState>): SiteState {
  return siteStateOf({ site: 'docs', state: state(changes), settings });
}

describe('the state', () => {
  it('contains the newest error', () => {
    const error = (at: string, status: number) => ({ message: 'm', status, at });
    const both = {
      exportError: error('2026-11-21T10:00:00.000Z', 500),
      refreshError: error('2026-11-21T11:00:00.000Z', 401),
    };
    expect(stateOf(both).lastError?.status).toBe(401);
  });

  it('names the job being exported, else the one deployed', () => {
    expect(stateOf({ live, exporting: exporting('polling') }).jobId).toBe('next');
    expect(stateOf({ live }).jobId).toBe('new');
  });

  it('names the newer version that a rollback withholds', () => {
    const { rolledBack: _, ...newest } = live;
    const old = { ...live, jobId: 'old', version: 'v1', rolledBack: true };
    expect(stateOf({ live: old, newest }).withheld).toEqual({ version: 'v2', exportedAt });
    expect(stateOf({ live, newest }).withheld).toBeNull();
    expect(stateOf({ live: { ...live, rolledBack: true }, newest }).withheld).toBeNull();
  });

  it('has no next refresh before the first export', () => {
    expect(stateOf({}).nextRefreshAt).toBeNull();
  });
});

describe('a pin that was read from the file', () => {
  it.each([
    ['holds if it names another version than the newest', 'v1', true],
    ['does not hold if it names the newest', 'v2', false],
  ])('%s', (_, pin, held) => {
    const site = state({ live, targets: [target()] });
    expect(adoptPins(site, [{ valuesFile: target().valuesFile, pin, off: false }])).toBe(true);
    expect(site.targets).toMatchObject([{ pin, held }]);
    expect(adoptPins(site, [{ valuesFile: target().valuesFile, pin, off: false }])).toBe(false);
  });

  it('releases the deployment when it is removed, and affects no other', () => {
    const site = state({ live, targets: [target({ pin: 'v1', held: true })] });
    expect(adoptPins(site, [{ valuesFile: 'another.yaml', pin: null, off: false }])).toBe(false);
    expect(adoptPins(site, [{ valuesFile: target().valuesFile, pin: null, off: false }])).toBe(true);
    expect(site.targets).toMatchObject([{ pin: null, held: false }]);
  });

  it('comes with the enabled flag: a deployment that is enabled again is written again', () => {
    const site = state({ live, targets: [target()] });
    const adoptOff = (off: boolean) => adoptPins(site, [{ valuesFile: target().valuesFile, pin: null, off }]);
    expect([adoptOff(true), adoptOff(true)]).toEqual([true, false]);
    expect(site.targets).toMatchObject([{ off: true, jobId: 'new' }]);
    expect(adoptOff(false)).toBe(true);
    expect(site.targets).toMatchObject([{ off: false, jobId: null }]);
    // Without a job, as before the first deployment, the flag has no effect.
    expect(adoptOff(true)).toBe(false);
  });

  it('does not hold if the service returns no versions, because the write decides', () => {
    const site = state({ live: { ...live, version: null }, targets: [target()] });
    adoptPins(site, [{ valuesFile: target().valuesFile, pin: 'v1', off: false }]);
    expect(site.targets).toMatchObject([{ pin: 'v1', held: false }]);
  });
});

describe('the job of a deployment', () => {
  const jobs = [
    { jobId: 'new', version: 'v2', exportedAt: null },
    { jobId: 'old', version: 'v1', exportedAt: null },
  ];

  it.each([
    ['the newest', 'new', target()],
    ['the one pinned', 'old', target({ held: true, pin: 'v1' })],
    ['the newest if the pin names it', 'new', target({ held: true, pin: 'v2' })],
    ['the deployed one if the pin is unknown', 'kept', target({ held: true, pin: 'v9', jobId: 'kept' })],
  ])('is %s', (_, jobId, which) => {
    expect(wantedJobId(state({ live, jobs }), which)).toBe(jobId);
  });

  it('is refreshed only if it is in use', () => {
    expect(jobsInUse(state())).toEqual([]);
    expect(jobsInUse(state({ live, jobs }))).toEqual(['new']);
    expect(jobsInUse(state({ live, jobs, targets: [target({ held: true, pin: 'v1' })] }))).toEqual(['old']);
    expect(jobsInUse(state({ live, jobs, targets: [target(), target({ held: true, pin: 'v1' })] }))).toEqual([
      'new',
      'old',
    ]);
  });

  it('is written again after a failure, but not before the back-off ends', () => {
    const failed = target({ error: 'disk full', retryAtMs: NOW_MS + 5_000 });
    expect(isBehind(state({ live }), failed, NOW_MS)).toBe(false);
    expect(isBehind(state({ live }), failed, NOW_MS + 5_000)).toBe(true);
    const links = [
      { jobId: 'new', expiresAt: null, obtainedAtMs: NOW_MS, lifetimeMs: 86_400_000, failures: 0, notBeforeMs: 0 },
    ];
    const known = state({ live, links, targets: [failed] });
    expect(nextRefreshAtMs({ site: 'docs', state: known, settings })).toBe(NOW_MS + 5_000);
  });
});
