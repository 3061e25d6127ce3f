import { withhold } from '../../../workflows/export-site/deployments.ts';
import { lockSite, unlockSite } from '../../../workflows/export-site/jobs.ts';
import { noticesOf } from '../../../workflows/export-site/notices.ts';
import type { MutableDeployment, MutableState } from '../../../workflows/export-site/state.ts';
import { holdForReview, releaseReview } from '../../../workflows/export-site/transitions.ts';
import {
  ASKED,
  addDeployments,
  deploymentOf,
  desired,
  exported,
  has,
  jobOf,
  next,
  rolledBackTo,
  siteOf,
  timeOf,
  write,
  writeAndAsk,
} from './build-state.ts';

const ADA = { by: 'ada', at: timeOf(0), reason: null };

/** An automatic rollback, if the deployment's answer is a reason for one. */
function withholdIfAnswered(state: MutableState, name = 'docs'): void {
  const { ask } = next(state, name);
  if (!ask.startsWith('withhold')) throw new Error(`${name}: ${ask}`);
  withhold(deploymentOf(state, name), `j${ask.slice('withhold v'.length)}`, 'it said so', timeOf(0));
}

describe('a deployment should have', () => {
  const withheld = { jobId: 'j2', why: '', at: timeOf(0) };

  it.each<[string, string, Partial<MutableDeployment>]>([
    ['the newest version', 'v2 newest', has(1)],
    ['the version of its pin', 'v1 pinned, not v2', has(2, { pin: 'v1' })],
    ['what it has, if the version of its pin is unknown', 'v1 pinned, not v2', has(1, { pin: 'v9' })],
    [
      'nothing else after a write that the unknown pin refused',
      'v1 pinned, not v2',
      has(1, { pin: 'v9', begun: 'j2' }),
    ],
    ['the newest version also while it is off, so that it is there when it is on', 'v2 newest', has(1, { off: true })],
    ['the last good version, if it served another one', 'v1 withheld, not v2', has(1, { withheld })],
    ['what it has, until a person approves', 'v1 waits-for-approval, not v2', has(1, { approve: true })],
    ['what a person approved', 'v2 newest', has(1, { approve: true, approved: 'j2' })],
    ['what it has already, without an approval', 'v2 newest', has(2, { approve: true })],
    ['what it has, if a person rejected the newest', 'v1 rejected, not v2', has(1, { approve: true, rejected: 'j2' })],
  ])('%s', (_, expected, changes) => {
    expect(desired(siteOf(2, { docs: changes }))).toBe(expected);
  });

  it('nothing before the first export', () => {
    expect(desired(siteOf(0))).toBe('none nothing');
  });
});

describe('an automatic rollback', () => {
  it('goes to the last good version, not to the one written before', () => {
    const state = siteOf(2, { docs: has(1, ASKED) });
    writeAndAsk(state, 'other');
    exported(state, 3);
    writeAndAsk(state, 'other');
    withholdIfAnswered(state);
    expect(desired(state)).toBe('v1 withheld, not v3');
    writeAndAsk(state, 'other');
    // It never triggers another one.
    expect(next(state).ask).toBe('ask v1 served');
  });

  it('concerns one deployment', () => {
    const state = siteOf(2, { docs: has(1, ASKED), dead: has(1, ASKED) });
    writeAndAsk(state, 'served', 'docs');
    writeAndAsk(state, 'other', 'dead');
    withholdIfAnswered(state, 'dead');
    expect([desired(state, 'docs'), desired(state, 'dead')]).toEqual(['v2 newest', 'v1 withheld, not v2']);
    exported(state, 3);
    expect([desired(state, 'docs'), desired(state, 'dead')]).toEqual(['v3 newest', 'v3 newest']);
  });

  it('leaves a newer export in review, which can still be approved', () => {
    const state = siteOf(2, { docs: has(1, ASKED) });
    holdForReview(state, jobOf(3), ['20 % fewer pages']);
    writeAndAsk(state, 'other');
    withholdIfAnswered(state);
    expect(state.review).toMatchObject({ jobId: 'j3' });
    releaseReview(state);
    expect(desired(state)).toBe('v3 newest');
  });

  it('is not undone by a newer version that waits, before the last good one is written', () => {
    const state = siteOf(3, { docs: has(1, { begun: 'j2', approve: true }) });
    withhold(deploymentOf(state), 'j2', '', timeOf(0));
    expect(desired(state)).toBe('v1 waits-for-approval, not v3');
  });

  it('is over once the version is served after all', () => {
    const state = siteOf(2, { docs: has(1, ASKED) });
    withhold(deploymentOf(state), 'j2', '', timeOf(0));
    rolledBackTo(state, 2);
    writeAndAsk(state, 'served');
    unlockSite(state);
    expect(desired(state)).toBe('v2 newest');
  });
});

describe("an operator's rollback", () => {
  it('holds until the next publish after the command, whatever was exported for earlier ones', () => {
    const state = siteOf(2, { docs: has(2), prod: has(2, { wave: 2, approve: true }) }, { accepted: 3 });
    rolledBackTo(state, 1);
    // It ignores waves and approvals.
    expect([desired(state), desired(state, 'prod')]).toEqual(['v1 rolled-back, not v2', 'v1 rolled-back, not v2']);
    exported(state, 3);
    expect(desired(state)).toBe('v1 rolled-back, not v3');
    // The publish came while the rollback waited for its link.
    exported(state, 4);
    expect([desired(state), state.rollback]).toEqual(['v4 newest', null]);
  });

  it('of a version that the site had forgotten is older than every other', () => {
    const state = siteOf(2, { docs: has(2) });
    state.jobs.push(jobOf(0));
    rolledBackTo(state, 0);
    expect(desired(state)).toBe('v0 rolled-back, not v2');
    exported(state, 3);
    expect(desired(state)).toBe('v3 newest');
  });
});

describe('a lock', () => {
  it('keeps what is deployed, and a new deployment gets the same', () => {
    const state = siteOf(2, { docs: has(2), old: has(1) });
    lockSite(state, ADA);
    for (let version = 3; version <= 102; version++) exported(state, version);
    addDeployments(state, 'new');
    const now = ['docs', 'old', 'new'].map((name) => desired(state, name));
    expect(now).toEqual(['v2 locked, not v102', 'v1 locked, not v102', 'v2 locked, not v102']);
    expect(next(state).write).toMatch(/^wait/);
    unlockSite(state);
    expect([desired(state), desired(state, 'old')]).toEqual(['v102 newest', 'v102 newest']);
  });

  it('gives nothing to a deployment that has nothing, such as one of a later wave', () => {
    const state = siteOf(1, { docs: has(1, { lastGood: null, ...ASKED }), prod: { wave: 2 } });
    lockSite(state, ADA);
    expect(desired(state, 'prod')).toBe('none locked, not v1');
  });

  it('stays through a rollback, and ends it', () => {
    const state = siteOf(2, { docs: has(2) });
    lockSite(state, ADA);
    rolledBackTo(state, 1);
    exported(state, 3);
    expect(desired(state)).toBe('v1 locked, not v3');
    unlockSite(state);
    expect(desired(state)).toBe('v3 newest');
  });

  it('keeps a rollback, or a lock, that came just before it', () => {
    const state = siteOf(2, { docs: has(2) });
    rolledBackTo(state, 1);
    for (const _ of ['first', 'second']) {
      lockSite(state, ADA);
      expect(desired(state)).toBe('v1 locked, not v2');
    }
  });

  it('leaves a pin to the operator of the deployment', () => {
    const state = siteOf(2, { docs: has(2) });
    lockSite(state, ADA);
    deploymentOf(state).pin = 'v1';
    expect(desired(state)).toBe('v1 pinned, not v2');
  });
});

describe('a later wave', () => {
  const waves = (staging: Partial<MutableDeployment>, prod = has(1)): MutableState =>
    siteOf(2, { staging, prod: { ...prod, wave: 2 } });

  it.each<[string, string, MutableState]>([
    ['waits until the earlier one has the version', 'v1 waits-for-wave, not v2', waves(has(1))],
    ['gets what the earlier one has', 'v2 newest', waves(has(2))],
    ['waits until it is served there', 'v1 waits-for-wave, not v2', waves(has(2, { ...ASKED, lastGood: 'j1' }))],
    ['waits if nothing vouches, because it is off', 'v1 waits-for-wave, not v2', waves(has(2, { off: true }))],
    ['waits if nothing vouches, because it is pinned', 'v1 waits-for-wave, not v2', waves(has(2, { pin: 'v2' }))],
    ['has nothing before the earlier one has', 'none waits-for-wave, not v2', waves({}, {})],
    ['keeps a newer version than the earlier one has', 'v2 waits-for-wave, not v2', waves(has(1), has(2))],
  ])('%s', (_, expected, state) => {
    expect(desired(state, 'prod')).toBe(expected);
  });

  it('never gets a version that failed in the earlier one', () => {
    const state = siteOf(2, { staging: has(1, ASKED), prod: has(1, { wave: 2 }) });
    for (const verdict of ['unknown', 'other'] as const) {
      writeAndAsk(state, verdict, 'staging');
      expect(desired(state, 'prod')).toBe('v1 waits-for-wave, not v2');
    }
    withholdIfAnswered(state, 'staging');
    writeAndAsk(state, 'served', 'staging');
    expect([desired(state, 'staging'), desired(state, 'prod')]).toEqual([
      'v1 withheld, not v2',
      'v1 waits-for-wave, not v2',
    ]);
  });

  it('is not starved by steady publishes: it gets the newest version that was served', () => {
    const state = siteOf(1, { staging: has(1, ASKED), prod: has(1, { wave: 2 }) });
    for (let version = 2; version <= 20; version++) {
      exported(state, version);
      writeAndAsk(state, 'served', 'staging');
      // The next one is there before the later wave has begun.
      exported(state, version + 1);
      expect(desired(state, 'prod')).toBe(`v${version} waits-for-wave, not v${version + 1}`);
      write(state, 'prod');
    }
  });
});

describe('an approval', () => {
  it('is for one version: a newer one replaces the one that waits', () => {
    const state = siteOf(2, { docs: has(1, { approve: true }) });
    exported(state, 3);
    expect(desired(state)).toBe('v1 waits-for-approval, not v3');
    deploymentOf(state).approved = 'j2';
    expect(desired(state)).toBe('v1 waits-for-approval, not v3');
  });

  it('is asked for with the preview of the version that waits', () => {
    const state = siteOf(2, { docs: has(1, { approve: true }) });
    const waiting = state.jobs.find(({ jobId }) => jobId === 'j2');
    Object.assign(waiting ?? {}, { previewUrl: 'https://galley.example.com/previews/x/' });
    const settings = { maxWaitMs: 0, refreshMargin: 0.2, minRefreshIntervalMs: 0 };
    expect(noticesOf({ site: 'handbook', state, settings }, 0)).toMatchObject([
      { event: 'site-approval', heldVersion: 'v2', previewUrl: 'https://galley.example.com/previews/x/' },
    ]);
  });

  it('is asked for again after a reject, for the next version', () => {
    const state = siteOf(2, { docs: has(1, { approve: true, rejected: 'j2' }) });
    exported(state, 3);
    expect(desired(state)).toBe('v1 waits-for-approval, not v3');
  });
});
