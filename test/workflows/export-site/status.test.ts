import type { SitePhase, SiteState } from '../../../contract/site-state.ts';
import { withhold, writeFailed } from '../../../workflows/export-site/deployments.ts';
import {
  exportBegan,
  exportContinued,
  exportEnded,
  jobWritten,
  settleOutcomes,
} from '../../../workflows/export-site/histories.ts';
import { lockSite, unlockSite } from '../../../workflows/export-site/jobs.ts';
import { noticesOf } from '../../../workflows/export-site/notices.ts';
import { addRequest } from '../../../workflows/export-site/schedule.ts';
import type { Exporting, MutableDeployment, MutableState } from '../../../workflows/export-site/state.ts';
import { siteStateOf, siteVersion } from '../../../workflows/export-site/status.ts';
import { holdForReview, takePending } from '../../../workflows/export-site/transitions.ts';
import {
  ASKED,
  DAY_MS,
  deploymentOf,
  exported,
  has,
  jobOf,
  linkOf,
  NOW_MS,
  rolledBackTo,
  SETTINGS,
  siteOf,
  timeOf,
  write,
  writeAndAsk,
} from './build-state.ts';

type Changes = Partial<MutableDeployment>;

const LOCK = { by: 'ada', at: timeOf(0), reason: 'a launch' };
const errorAt = (ms: number, status: number) => ({ message: `HTTP ${status}`, status, at: timeOf(ms) });
const proposed = { jobId: 'j2', version: 'v2', url: 'https://git.example.com/1', link: null, epoch: 1, sequence: 1 };
const answered = (verdict: 'served' | 'other' | 'unknown', version = 2) => {
  return { answer: { jobId: `j${version}`, verdict, at: timeOf(9_000), why: 'it said so' } };
};
const failedWrite = { trouble: { jobId: 'j2', failures: 1, notBeforeMs: NOW_MS, error: errorAt(3_000, 507) } };
const asked = (verdict: 'served' | 'other' | 'unknown' | null): Changes =>
  has(2, { ...ASKED, ...(verdict === null ? { answer: null } : answered(verdict)) });

function shown(state: MutableState, writing: string[] = []): SiteState {
  return siteStateOf({ site: 'docs', state, settings: SETTINGS, isWriting: (place) => writing.includes(place) });
}

function exporting(stage: Exporting['stage']): Partial<MutableState> {
  const state = siteOf(0, {}, { pending: { ...addRequest(null, NOW_MS), count: 1 } });
  takePending(state, 'docs.example.com', NOW_MS);
  if (state.exporting === null) throw new Error('Nothing is exported');
  return { exporting: { ...state.exporting, stage } };
}

describe('the state of a deployment', () => {
  it.each<[string, Changes]>([
    ['waiting', { wave: 2 }],
    ['waiting', has(1, { wave: 2 })],
    ['approval', has(1, { approve: true })],
    ['approval', { approve: true }],
    ['writing', has(1)],
    ['confirming', asked(null)],
    ['unknown', asked('unknown')],
    ['failed', asked('other')],
    ['live', asked('served')],
    ['live', has(2)],
    ['live', has(2, { pin: 'v2' })],
    ['live', has(1, { rejected: 'j2' })],
    ['proposed', has(1, { proposed })],
    ['held', has(1, { pin: 'v1' })],
    ['held', has(2, { pin: 'v9' })],
    ['held', has(1, { begun: 'j2', pin: 'v9' })],
    ['writing', has(2, { pin: 'v1' })],
    ['off', has(1, { off: true, ...failedWrite })],
    ['failed', has(1, failedWrite)],
  ])('is %s: %#', (expected, changes) => {
    const { deployments } = shown(siteOf(2, { first: {}, docs: changes }));
    expect(deployments[1]?.state).toBe(expected);
  });

  it('is locked while the site is, and failed only by an error of what it should have', () => {
    const state = siteOf(2, { docs: has(2), old: has(1) });
    writeFailed(deploymentOf(state, 'old'), jobOf(2), 'disk full', NOW_MS);
    rolledBackTo(state, 1);
    write(state);
    lockSite(state, LOCK);
    expect(shown(state)).toMatchObject({
      lastError: null,
      deployments: [{ state: 'locked' }, { state: 'locked', error: null }],
    });
  });

  it('has what is written, since when and since when it is served, and what should be there', () => {
    const state = siteOf(2, { docs: has(1, ASKED), later: has(1, { wave: 2, ...ASKED }) });
    const [before, later] = shown(state).deployments;
    expect(before).toMatchObject({
      ...{ version: 'v1', jobId: 'j1', writtenAt: timeOf(1_000), servedAt: timeOf(1_000), confirmed: true },
      ...{ desired: { version: 'v2', jobId: 'j2', reason: 'newest' }, linkExpiresAt: timeOf(DAY_MS) },
    });
    expect(later?.desired).toEqual({ version: 'v2', jobId: 'j2', reason: 'waits-for-wave' });
    write(state);
    expect(shown(state).deployments[0]).toMatchObject({
      version: 'v2',
      writtenAt: timeOf(0),
      servedAt: null,
      confirmed: false,
    });
    writeAndAsk(state, 'served');
    rolledBackTo(state, 1);
    writeAndAsk(state, 'served');
    // After a rollback they are the rollback's.
    expect(shown(state).deployments[0]).toMatchObject({ version: 'v1', writtenAt: timeOf(0), servedAt: timeOf(0) });
    expect(shown(state)).toMatchObject({ version: 'v1', confirmed: true });
  });

  it.each<[string, Changes, Partial<MutableState>?]>([
    ['HTTP 507', has(1, failedWrite)],
    ['HTTP 410', has(2), { linkTrouble: { j2: { failures: 1, notBeforeMs: 0, gone: true, error: errorAt(0, 410) } } }],
    ["the pinned version v9 doesn't exist: there are v1, v2", has(1, pinned(null, 'v1', 'v2'))],
    ["the pinned version v9 doesn't exist: the Admin API has none of it", has(1, pinned(null))],
    ["the Admin API can't be asked for the pinned version v9", has(1, pinned(NOW_MS))],
    [
      'v2 was not served (it said so): rolled back to v1',
      has(1, { withheld: { jobId: 'j2', why: 'it said so', at: timeOf(0) } }),
    ],
    ['v2 is not known to be served: it said so', asked('unknown')],
    ['v2 is not served: it said so', asked('other')],
  ])('has the error %s, which the site shows with its name', (message, changes, state = {}) => {
    const { deployments, lastError } = shown(siteOf(2, { docs: changes }, state));
    expect([deployments[0]?.error?.message, lastError?.message]).toEqual([message, `docs: ${message}`]);
  });

  function pinned(againAtMs: number | null, ...versions: string[]): Changes {
    return { pin: 'v9', pinSearch: { pin: 'v9', againAtMs, versions } };
  }
});

describe('the phase', () => {
  const waiting = { untilMs: NOW_MS, notBeforeMs: 0, failures: 1, keyRefused: false, waiting: true };
  const pending = addRequest(null, NOW_MS);
  const lock = { ...LOCK, jobId: 'j2', keeps: {} };
  const review = { ...jobOf(3), exportedAt: timeOf(0), at: timeOf(0), reasons: ['20 % fewer pages'] };
  const every: Partial<MutableState> = { lock, review, paused: true, unconfigured: errorAt(0, 0), pending };
  const failed = { backOff: waiting, exportError: errorAt(0, 500) };

  /** In the order of the contract: each one also has what comes later. */
  it.each<[SitePhase, Partial<MutableState>, Changes[]]>([
    ['exporting', { ...every, ...exporting('starting') }, [has(1)]],
    ['exporting', { ...every, ...exporting('polling'), backOff: { ...waiting, waiting: false } }, [has(1)]],
    ['bundling', { ...every, ...exporting('bundling') }, [has(1)]],
    ['paused', { ...every, ...exporting('polling'), ...failed }, [has(1)]],
    ['unconfigured', { ...every, ...failed, paused: false }, [has(1)]],
    ['failed', { ...exporting('polling'), ...failed, pending, lock }, [has(1)]],
    ['waiting', { ...failed, exportError: errorAt(0, 429), pending, lock }, [has(1)]],
    ['debouncing', { pending, lock, review }, [has(1)]],
    ['locked', { lock, review }, [has(1), has(2)]],
    ['review', { review }, [has(1)]],
    ['review', {}, [has(1, { approve: true }), has(1)]],
    ['deploying', {}, [has(1), asked(null)]],
    ['confirming', {}, [asked(null), asked('other'), has(1, { proposed })]],
    ['confirming', {}, [asked('unknown'), has(2)]],
    ['failed', {}, [has(1, failedWrite), asked('other'), has(1, { off: true }), has(1, { pin: 'v1' })]],
    ['proposed', {}, [has(1, { proposed }), has(1, failedWrite), has(1, { pin: 'v1' })]],
    ['off', {}, [has(1, { off: true }), has(1, { off: true })]],
    ['held', {}, [has(1, { pin: 'v1' }), has(2), has(1, { off: true })]],
    ['live', {}, [has(2), has(1, failedWrite), has(1, { off: true })]],
    ['live', {}, []],
    ['live', { newest: null, rollback: { jobId: 'j2', after: 9, by: '', at: '', reason: null } }, [has(2)]],
    ['idle', { newest: null }, [{}]],
  ])('is %s: %#', (phase, changes, deployments) => {
    const named = Object.fromEntries(deployments.map((each, index) => [`d${index}`, each]));
    expect(shown(siteOf(2, named, changes)).phase).toBe(phase);
  });
});

describe('the state of a site', () => {
  it("has the export's error, otherwise the newest of its deployments, and names each path once", () => {
    const state = siteOf(2, {
      old: has(1, { trouble: { ...failedWrite.trouble, error: errorAt(1_000, 507) } }),
      docs: has(1, failedWrite),
    });
    expect(shown(state).lastError).toEqual({ ...errorAt(3_000, 507), message: 'docs: HTTP 507' });
    writeFailed(deploymentOf(state), jobOf(2), 'docs has a tab in line 3', NOW_MS + 9_000);
    expect(shown(state).lastError?.message).toBe('docs has a tab in line 3');
    state.exportError = errorAt(0, 500);
    expect(shown(state).lastError?.status).toBe(500);
  });

  it('has the newest version that any deployment should have, and the one that is withheld', () => {
    const state = siteOf(2, { docs: has(2), other: has(1, { rejected: 'j2' }) });
    expect(shown(state)).toMatchObject({ version: 'v2', withheld: null });
    rolledBackTo(state, 1);
    expect(shown(state)).toMatchObject({ version: 'v1', withheld: { version: 'v2', exportedAt: jobOf(2).exportedAt } });
    rolledBackTo(state, 2);
    expect(shown(state)).toMatchObject({ version: 'v2', withheld: null });
    lockSite(state, LOCK);
    exported(state, 3);
    expect(shown(state)).toMatchObject({ version: 'v2', withheld: { version: 'v3' }, lock: LOCK });
    expect(siteVersion(siteOf(2, {}))).toMatchObject({ version: 'v2' });
  });

  it('has the first link that ends, and when the next one is due', () => {
    const soon = linkOf({ lifetimeMs: DAY_MS / 2, expiresAt: timeOf(DAY_MS / 2) });
    const state = siteOf(2, { docs: has(2), soon: has(2), folder: has(2, { kind: 'directory' }) });
    Object.assign(deploymentOf(state, 'soon').written ?? {}, { link: soon });
    const { linkExpiresAt, nextRefreshAt } = shown(state);
    expect(linkExpiresAt).toBe(soon.expiresAt);
    // An overdue one is due now, which the clock of this test may have passed.
    expect(Date.parse(nextRefreshAt ?? '')).toBeGreaterThanOrEqual(NOW_MS + 0.39 * DAY_MS);
    expect(shown(siteOf(0)).nextRefreshAt).toBeNull();
  });
});

describe('operators get a mail at once', () => {
  const gone = { linkTrouble: { j1: { failures: 1, notBeforeMs: 0, gone: true, error: errorAt(0, 410) } } };
  const lock = { ...LOCK, jobId: 'j1', keeps: { '/srv/first.yaml': 'j2' } };
  const review = { ...jobOf(3), exportedAt: timeOf(0), at: timeOf(0), reasons: ['20 % fewer pages'] };

  it.each<[string, Changes, Partial<MutableState>?]>([
    ['site-unknown v2 https://docs.example.com', asked('unknown')],
    ['site-not-served v2 https://docs.example.com', asked('other')],
    ['site-not-served v2 https://docs.example.com', has(1, { withheld: { jobId: 'j2', why: '', at: timeOf(0) } })],
    // An earlier wave serves it already.
    ['site-approval v2 https://first.example.com', has(1, { wave: 2, approve: true })],
    ['site-link v1 https://docs.example.com', has(1), { ...gone, lock }],
    ['site-review v3 null', has(2), { review }],
    // Its link was due before the end of the day, and the pull request is still open.
    [`site-proposal v1 ${proposed.url}`, has(1, { proposed, kind: 'git' })],
    ['none', has(2), gone],
    ['none', asked(null)],
  ])('%s: %#', (expected, changes, state = {}) => {
    const run = { site: 'docs', settings: SETTINGS, state: siteOf(2, { first: has(2), docs: changes }, state) };
    const notices = noticesOf(run, NOW_MS + DAY_MS);
    const texts = notices.map(({ event, heldVersion, url }) => `${event} ${heldVersion} ${url}`);
    expect(texts.join() || 'none').toBe(expected);
  });

  it('also that a version was rolled back, after one that it was not served', () => {
    const keyOf = (changes: Changes) =>
      noticesOf({ site: 'docs', settings: SETTINGS, state: siteOf(2, { docs: changes }) }, NOW_MS).map(
        ({ key }) => key,
      );
    const [notServed, withheld] = [asked('other'), has(1, { withheld: { jobId: 'j2', why: '', at: timeOf(0) } })].map(
      keyOf,
    );
    expect(notServed).toHaveLength(1);
    expect(withheld).not.toEqual(notServed);
  });
});

describe('the oldest publish that is not served', () => {
  const publishes = { ...addRequest(null, NOW_MS), count: 1 };
  const failed = {
    backOff: { untilMs: 0, notBeforeMs: 0, failures: 1, keyRefused: false, waiting: true },
    pending: publishes,
  };
  const review = { ...jobOf(3), exportedAt: timeOf(0), at: timeOf(0), reasons: [] };

  it.each<[string | null, number, Changes, Partial<MutableState>?]>([
    ['debouncing', 0, has(2), { pending: publishes }],
    ['exporting', 0, has(2), exporting('polling')],
    ['failed', 0, has(2), { ...failed, exportError: errorAt(0, 500) }],
    ['waiting', 0, has(2), { ...failed, exportError: errorAt(0, 429) }],
    ['paused', 0, has(2), { pending: publishes, paused: true }],
    ['unconfigured', 0, has(2), { pending: publishes, unconfigured: errorAt(0, 0) }],
    ['review', 3_000, has(2), { review }],
    ['approval', 2_000, has(1, { approve: true })],
    ['deploying', 2_000, has(1)],
    ['deploying', 2_000, has(1, { proposed })],
    ['confirming', 2_000, { ...asked(null), lastGood: 'j1' }],
    ['unknown', 2_000, { ...asked('unknown'), lastGood: 'j1' }],
    ['failed', 1_000, { ...asked('other'), lastGood: null }],
    ['failed', 1_000, failedWrite],
    ['waiting', 2_000, has(1, { wave: 2 })],
    ['locked', 2_000, has(1), { lock: { ...LOCK, jobId: 'j1', keeps: {} } }],
    [null, 0, has(2)],
    [null, 0, has(1, { off: true })],
    [null, 0, has(1, { pin: 'v1' })],
    [null, 0, has(1, { rejected: 'j2' })],
    [null, 0, has(1, { withheld: { jobId: 'j2', why: '', at: timeOf(0) } })],
    [null, 0, has(2), { pending: addRequest(null, NOW_MS) }],
  ])('is %s, published after %i ms: %#', (reason, afterMs, changes, state = {}) => {
    // A wave in which nothing is left lets nothing pass.
    const { oldestUnserved } = shown(siteOf(2, { first: has(1, { pin: 'v1' }), docs: changes }, state));
    expect(oldestUnserved).toEqual(reason && { at: timeOf(afterMs), reason });
  });

  it('is settled by a rollback, until the next publish after the command', () => {
    const state = siteOf(2, { docs: has(1) }, { pending: publishes });
    rolledBackTo(state, 1);
    expect(shown(state).oldestUnserved).toBeNull();
    exported(state, 3);
    expect(shown(state).oldestUnserved).toEqual({ at: timeOf(3_000), reason: 'deploying' });
    lockSite(state, LOCK);
    expect(shown(state).oldestUnserved?.reason).toBe('locked');
    unlockSite(state);
    write(state);
    expect(shown(state).oldestUnserved).toBeNull();
  });
});

describe('the outcome of an export', () => {
  /** Exports of the versions up to `newest`; those listed were written once. */
  function outcomes(state: MutableState, newest: number, ...written: number[]): (string | null)[] {
    for (let version = state.histories.exports.length + 1; version <= newest; version++) {
      exportBegan(state.histories, { ...addRequest(null, NOW_MS), count: 1 }, NOW_MS);
      exportContinued(state.histories, { jobId: `j${version}` });
      exportEnded(state.histories, null, { waiting: false });
    }
    for (const version of written) jobWritten(state.histories, `j${version}`);
    settleOutcomes(state);
    return state.histories.exports.map(({ outcome }) => outcome).reverse();
  }

  it.each<[string, Record<string, Changes>, (string | null)[]]>([
    ['written to all', { docs: has(2), other: has(2) }, ['partly', 'written']],
    ['served by all', { docs: asked('served'), other: has(2) }, ['partly', 'served']],
    ['under way while one waits for it', { docs: has(2), other: has(1) }, [null, null]],
    [
      'under way while it is not known to be served',
      { docs: { ...asked('unknown'), lastGood: 'j1' } },
      ['partly', null],
    ],
    [
      'held if no deployment takes new versions',
      { docs: has(1, { off: true }), other: has(1, { pin: 'v1' }) },
      ['partly', 'held'],
    ],
    [
      'rejected if every deployment that follows did',
      { docs: has(1, { rejected: 'j2' }), other: has(1, { off: true }) },
      ['written', 'rejected'],
    ],
  ])('is %s', (_, deployments, expected) => {
    expect(outcomes(siteOf(2, deployments), 2, 1)).toEqual(expected);
  });

  it('is superseded if nothing was written, and says how far it came, also after a rollback', () => {
    const state = siteOf(2, { docs: has(2) });
    expect(outcomes(state, 2)).toEqual(['superseded', 'written']);
    rolledBackTo(state, 1);
    write(state);
    expect(outcomes(state, 2, 1)).toEqual(['written', 'written']);
    exported(state, 3);
    expect(outcomes(state, 3)).toEqual(['written', 'written', null]);
    withhold(deploymentOf(state), 'j3', '', timeOf(0));
    exported(state, 4);
    expect(outcomes(state, 4)).toEqual(['written', 'written', 'superseded', null]);
  });

  it('is left to the guard that holds the export', () => {
    const state = siteOf(1, { docs: has(1) });
    outcomes(state, 1, 1);
    exportBegan(state.histories, { ...addRequest(null, NOW_MS), count: 1 }, NOW_MS);
    exportContinued(state.histories, { jobId: 'j2' });
    holdForReview(state, jobOf(2), ['20 % fewer pages']);
    expect(outcomes(state, 2)).toEqual(['written', 'held']);
  });
});
