import type { TargetKind } from '../../../contract/target-kind.ts';
import {
  adoptSwitches,
  pinSearched,
  proposalClosed,
  proposalMerged,
  seenServed,
  writeFailed,
  writeInterrupted,
} from '../../../workflows/export-site/deployments.ts';
import { isLost, linkFailed, linkObtained, lockSite, rememberJob } from '../../../workflows/export-site/jobs.ts';
import { overdueProposal } from '../../../workflows/export-site/schedule.ts';
import type { MutableDeployment, MutableState } from '../../../workflows/export-site/state.ts';
import { writeErrorOf } from '../../../workflows/export-site/status.ts';
import { retryAfterConfigChange } from '../../../workflows/export-site/transitions.ts';
import {
  ASKED,
  DAY_MS,
  deploymentOf,
  desired,
  exported,
  has,
  jobOf,
  linkOf,
  NOW_MS,
  next,
  rolledBackTo,
  SETTINGS,
  siteOf,
  timeOf,
  write,
  writeAndAsk,
} from './build-state.ts';

const MINUTE_MS = 60_000;
/** Four fifths of the life of a link, in the middle of the spread over sites. */
const DUE_MS = 0.8 * DAY_MS;
const ERROR = { message: 'HTTP 503', status: 503, at: timeOf(0) };

const writeAt = (state: MutableState, atMs: number, name = 'docs'): string => next(state, name, { atMs }).write;

function pinTo(state: MutableState, pin: string): void {
  adoptSwitches(state, { valuesFile: deploymentOf(state).place, pin, off: false });
}

describe('what a deployment serves', () => {
  it('is asked until a verdict, and never once it has said that it serves the version', () => {
    const state = siteOf(2, { docs: has(1, ASKED) });
    write(state);
    expect(next(state).ask).toBe('ask v2 verdict');
    expect(next(state, 'docs', { ask: { jobId: 'j2', does: 'ask' } }).ask).toBe('rest');
    expect(next(state, 'docs', { ask: { jobId: 'j1', does: 'ask' } }).ask).toBe('stop');
    seenServed(deploymentOf(state), 'j2', timeOf(0));
    expect([next(state).ask, next(state, 'docs', { ask: { jobId: 'j2', does: 'ask' } }).ask]).toEqual(['rest', 'stop']);
  });

  it('is not asked without a status URL, while it is off, or before the version is there', () => {
    for (const changes of [has(2), has(2, { ...ASKED, answer: null, off: true }), has(1, ASKED)]) {
      expect(next(siteOf(2, { docs: changes })).ask).toBe('rest');
    }
  });

  it('if unknown, is asked again and rolls nothing back', () => {
    const state = siteOf(2, { docs: has(1, ASKED) });
    writeAndAsk(state, 'unknown');
    expect([next(state).ask, desired(state)]).toEqual(['ask v2 answer', 'v2 newest']);
  });

  it.each<[string, string, Partial<MutableDeployment>, Partial<MutableState>]>([
    ['rolls back', 'withhold v2', {}, {}],
    ['rolls nothing back unless configured', 'ask v2 served', { confirm: { withinMs: 1, rollback: false } }, {}],
    ['rolls nothing back if it served no other version', 'ask v2 served', { lastGood: null }, {}],
    ['rolls nothing back that it has served', 'ask v2 served', { lastGood: 'j2' }, {}],
    ['rolls back no pin', 'ask v2 served', { pin: 'v2' }, {}],
  ])('if another version, %s', (_, step, changes) => {
    const state = siteOf(2, { docs: has(1, { ...ASKED, ...changes }) });
    writeAndAsk(state, 'other');
    expect(next(state).ask).toBe(step);
  });

  it('if another version, rolls back neither a lock nor a rollback', () => {
    const state = siteOf(3, { docs: has(3, ASKED) });
    rolledBackTo(state, 2);
    deploymentOf(state).lastGood = 'j1';
    writeAndAsk(state, 'other');
    expect(next(state).ask).toBe('ask v2 served');
    lockSite(state, { by: 'ada', at: timeOf(0), reason: null });
    expect(next(state).ask).toBe('ask v2 served');
  });
});

describe('a newer version', () => {
  /** The oldest publish that isn't served was at 2 s, and a write takes 100 ms. */
  const limitMs = 2_000 + SETTINGS.maxWaitMs + 100;

  it('replaces one that is being confirmed only while the oldest publish is young', () => {
    const state = siteOf(2, { docs: has(1, ASKED) });
    write(state);
    exported(state, 3);
    // Until then the link of what is there is refreshed.
    expect([writeAt(state, limitMs - 1), writeAt(state, limitMs)]).toEqual([
      'deploy v3',
      expect.stringMatching(/^wait/),
    ]);
    writeAndAsk(state, 'unknown');
    expect(writeAt(state, limitMs)).toMatch(/^wait/);
    exported(state, 4);
    expect(writeAt(state, limitMs)).toBe('deploy v4');
  });

  it.each<[TargetKind, 'preparing' | 'writing', string, string]>([
    ['directory', 'writing', 'deploy v3', 'rest'],
    ['valuesFile', 'preparing', 'deploy v3', 'rest'],
    ['valuesFile', 'writing', 'rest', 'rest'],
  ])('replaces a write to a %s that is %s only while the oldest publish is young', (kind, stage, young, old) => {
    const state = siteOf(3, { docs: has(1, { kind }) });
    const facts = { write: { jobId: 'j2', stage } };
    deploymentOf(state).written = {
      ...has(1).written,
      jobId: 'j1',
      version: 'v1',
      at: null,
      tookMs: 100,
      link: null,
      bundlePath: null,
    };
    expect(next(state, 'docs', { ...facts, atMs: limitMs - 1 }).write).toBe(young);
    expect(next(state, 'docs', { ...facts, atMs: limitMs }).write).toBe(old);
    // A decision of an operator replaces it at any time.
    pinTo(state, 'v1');
    expect(next(state, 'docs', { ...facts, atMs: limitMs }).write).toBe(young.replace('v3', 'v1'));
  });

  it('leaves files of two versions in a folder if its write fails or is canceled, so the older one is written again', () => {
    for (const interrupt of [
      writeInterrupted,
      (to: MutableDeployment) => writeFailed(to, jobOf(2), 'disk full', NOW_MS),
    ]) {
      const state = siteOf(2, { docs: has(1, { kind: 'directory' }) });
      interrupt(deploymentOf(state), jobOf(2));
      rolledBackTo(state, 1);
      expect(writeAt(state, 0)).toBe('deploy v1');
    }
  });
});

describe('a link', () => {
  it('is refreshed when it is due, also of a version that is pinned, locked or rolled back to', () => {
    const state = siteOf(2, { docs: has(2), pinned: has(1, { pin: 'v1' }) });
    const inUse = () => [
      writeAt(state, DUE_MS * 0.97),
      writeAt(state, DUE_MS * 1.03),
      writeAt(state, DUE_MS * 1.03, 'pinned'),
    ];
    expect(inUse()).toEqual([expect.stringMatching(/^wait/), 'refresh v2', 'refresh v1']);
    lockSite(state, { by: 'ada', at: timeOf(0), reason: null });
    expect(inUse().slice(1)).toEqual(['refresh v2', 'refresh v1']);
    for (let version = 3; version < 200; version++) exported(state, version);
    expect(inUse().slice(1)).toEqual(['refresh v2', 'refresh v1']);
  });

  it('is refreshed with others if it is due within a tenth of its life', () => {
    const state = siteOf(1, { docs: has(1) });
    const at = (share: number) => next(state, 'docs', { atMs: DUE_MS - share * DAY_MS, timerFired: true }).write;
    expect([at(0.13), at(0.07)]).toEqual([expect.stringMatching(/^wait/), 'refresh v1']);
  });

  it('is refreshed at once if an operator asked for it or if it is unknown, except where none is kept', () => {
    const state = siteOf(1, { docs: has(1), folder: has(1, { kind: 'directory' }) }, { refreshAskedMs: NOW_MS + 1 });
    expect([writeAt(state, 0), writeAt(state, 400 * DAY_MS, 'folder')]).toEqual(['refresh v1', 'rest']);
    const unknown = { ...has(1), written: { ...jobOf(1), at: null, tookMs: 0, link: null, bundlePath: null } };
    expect(writeAt(siteOf(1, { docs: unknown }), 0)).toBe('refresh v1');
  });

  it.each([
    ['lost by the newest version needs a new export', true, 1, (): void => {}],
    ['lost by what an operator rolled back to is kept', false, 1, (state: MutableState) => rolledBackTo(state, 1)],
    [
      'lost by what is locked is kept',
      false,
      1,
      (state: MutableState) => lockSite(state, { by: '', at: '', reason: null }),
    ],
    ['lost by what is pinned is kept', false, 1, (state: MutableState) => pinTo(state, 'v1')],
    ['lost by an older version needs none', false, 2, (): void => {}],
  ] as const)('%s', (_, isNeeded, newest, decide) => {
    const state = siteOf(newest, { docs: has(1) });
    decide(state);
    linkFailed(state, 'j1', { failures: 1, notBeforeMs: NOW_MS + MINUTE_MS, gone: true, error: ERROR });
    expect(isLost(state, deploymentOf(state), 'j1')).toBe(isNeeded);
  });

  it('that the service refuses is asked for again after a back-off, and at once after a configuration change', () => {
    const state = siteOf(2, { docs: has(1), old: has(1, { pin: 'v1' }) });
    linkFailed(state, 'j2', { failures: 1, notBeforeMs: NOW_MS + MINUTE_MS, gone: false, error: ERROR });
    expect([writeAt(state, 0), writeAt(state, MINUTE_MS)]).toEqual([`wait ${MINUTE_MS}`, 'deploy v2']);
    // Another job's link isn't concerned.
    expect(writeAt(state, DUE_MS * 1.03, 'old')).toBe('refresh v1');
    retryAfterConfigChange(state);
    expect(writeAt(state, 0)).toBe('deploy v2');
    linkObtained(state, 'j2', { version: null });
    expect(state.linkTrouble).toEqual({});
  });
});

describe('a write that failed', () => {
  it('is repeated after a back-off, and rewrites no other deployment', () => {
    const state = siteOf(2, { docs: has(2), broken: has(1) });
    const before = next(state).write;
    for (const waitMs of [5_000, 10_000, 20_000, 40_000, MINUTE_MS, MINUTE_MS]) {
      writeFailed(deploymentOf(state, 'broken'), jobOf(2), 'a tab in line 3', NOW_MS);
      expect([writeAt(state, 0, 'broken'), writeAt(state, waitMs, 'broken')]).toEqual([`wait ${waitMs}`, 'deploy v2']);
      expect(next(state).write).toBe(before);
    }
    exported(state, 3);
    expect(writeAt(state, 0, 'broken')).toBe('deploy v3');
  });

  it('because of a pin, of any length, is decided anew once and then waits', () => {
    const pin = 'v'.repeat(300);
    const state = siteOf(2, { docs: has(1) });
    write(state, 'docs', { outcome: 'held', pin, jobId: 'j1' });
    expect([next(state).write, deploymentOf(state).trouble]).toEqual([`find-pin ${pin.slice(0, 200)}`, null]);
    pinSearched(deploymentOf(state), pin.slice(0, 200), { againAtMs: null, versions: [] });
    write(state, 'docs', { outcome: 'held', pin, jobId: 'j1' });
    expect(writeAt(state, 0)).toBe('wait 5000');
  });
});

describe('the job of a pin', () => {
  const pinned = (changes: Partial<MutableDeployment> = {}): MutableState =>
    siteOf(2, { docs: has(1, { pin: 'v9', ...changes }) });
  const search = (againAtMs: number | null) => ({ pinSearch: { pin: 'v9', againAtMs, versions: [] } });

  it('is searched for once, and again if the search failed, while the link of what is there stays fresh', () => {
    expect(writeAt(pinned(), 0)).toBe('find-pin v9');
    const failed = pinned(search(NOW_MS + MINUTE_MS));
    expect([writeAt(failed, 0), writeAt(failed, MINUTE_MS)]).toEqual([`wait ${MINUTE_MS}`, 'find-pin v9']);
    const unknown = pinned(search(null));
    expect([writeAt(unknown, MINUTE_MS), writeAt(unknown, 1.03 * DUE_MS)]).toEqual([
      expect.stringMatching(/^wait/),
      'refresh v1',
    ]);
    expect(writeAt(siteOf(2, { docs: { pin: 'v9', ...search(null) } }), DAY_MS)).toBe('rest');
  });

  it('is searched for to the end, also where a long write would be replaced', () => {
    const facts = { write: { jobId: 'v9', stage: 'preparing' } } as const;
    expect(next(pinned({ kind: 'git' }), 'docs', facts).write).toBe('rest');
    expect(next(pinned({ kind: 'git', pin: null }), 'docs', facts).write).toBe('deploy v2');
  });

  it('is written once it is found, and never counts as newer', () => {
    const state = pinned(search(null));
    rememberJob(state, jobOf(9, { upTo: 0, oldestPublishMs: null }));
    expect([writeAt(state, 0), state.newest]).toEqual(['deploy v9', 'j2']);
    expect(state.jobs.at(-1)).toMatchObject({ version: 'v9' });
    write(state);
    deploymentOf(state).pin = null;
    expect(desired(state)).toBe('v2 newest');
  });

  it('comes with the switch: a deployment that is switched on again is written again', () => {
    const state = siteOf(1, { docs: has(1) });
    const { place: valuesFile } = deploymentOf(state);
    const adopt = (off: boolean) => adoptSwitches(state, { valuesFile, pin: null, off });
    expect([adopt(true), adopt(true), writeAt(state, 0)]).toEqual([true, false, expect.stringMatching(/^wait/)]);
    expect([adopt(false), writeAt(state, 0)]).toEqual([true, 'refresh v1']);
    // Before the first write, `enabled: false` is not the operator's.
    expect(adoptSwitches(siteOf(1, { docs: { place: valuesFile } }), { valuesFile, pin: null, off: true })).toBe(false);
    expect(adoptSwitches(state, { valuesFile: 'another.yaml', pin: 'v1', off: false })).toBe(false);
  });
});

describe('a pull request with a version', () => {
  const proposed = (version: number, changes = {}): MutableState => {
    const state = siteOf(2, { docs: has(1, { kind: 'git' }) });
    deploymentOf(state).proposed = {
      ...jobOf(version),
      url: 'https://git.example.com/1',
      link: linkOf(),
      epoch: 1,
      sequence: 1,
      ...changes,
    };
    return state;
  };

  it('is followed until it ends, and gets a fresh link when one is due', () => {
    const state = proposed(2);
    expect(next(state, 'docs', { atMs: MINUTE_MS })).toEqual({
      write: expect.stringMatching(/^wait/),
      ask: 'follow-proposal j2',
    });
    expect(writeAt(state, 1.03 * DUE_MS)).toBe('refresh v2');
    exported(state, 3);
    expect(next(state).write).toBe('deploy v3');
  });

  it('is written when it is merged, and skipped when a person closes it', () => {
    const merged = proposed(2);
    proposalMerged(deploymentOf(merged), NOW_MS);
    expect(deploymentOf(merged)).toMatchObject({
      written: { jobId: 'j2', at: timeOf(0) },
      lastGood: 'j2',
      proposed: null,
    });
    const closed = proposed(2);
    proposalClosed(deploymentOf(closed), { jobId: 'j2' }, NOW_MS);
    expect([desired(closed), next(closed).ask]).toEqual(['v1 rejected, not v2', 'rest']);
    exported(closed, 3);
    expect(next(closed).write).toBe('deploy v3');
  });

  it('that only refreshes a link is proposed again if a person closes it', () => {
    const closed = proposed(1);
    closed.newest = 'j1';
    proposalClosed(deploymentOf(closed), { jobId: 'j1' }, NOW_MS);
    expect([desired(closed), next(closed).write]).toEqual(['v1 newest', `wait ${5 * MINUTE_MS}`]);
    expect(writeErrorOf(closed, deploymentOf(closed))?.message).toContain('reopen it');
    expect(writeAt(closed, 5 * MINUTE_MS)).toBe('refresh v1');
    // It was reopened and merged: what is there is its link, which is refreshed when it is due.
    const link = { expiresAt: new Date(NOW_MS + 60 * MINUTE_MS).toISOString(), lifetimeMs: 100 * MINUTE_MS };
    write(closed, 'docs', { outcome: 'written', link });
    expect(deploymentOf(closed).written?.link).toEqual({ ...link, obtainedAtMs: NOW_MS - 40 * MINUTE_MS });
  });

  it('is overdue a tenth of the lifetime after the link was due', () => {
    const facts = { site: 'docs', settings: SETTINGS };
    const overdue = overdueProposal(deploymentOf(proposed(2)), facts);
    expect(overdue?.dueAtMs).toBeCloseTo(NOW_MS + DUE_MS, -7);
    expect((overdue?.tellAtMs ?? 0) - (overdue?.dueAtMs ?? 0)).toBe(DAY_MS / 10);
    expect(overdueProposal(deploymentOf(siteOf(1, { docs: has(1) })), facts)).toBeNull();
  });
});
