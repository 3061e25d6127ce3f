import { HISTORY_LIMITS } from '../../../contract/site-state.ts';
import { createSeenDeliveries } from '../../../workflows/deliveries/seen-deliveries.ts';
import { MAX_INPUT_BYTES, sizeBytes } from '../../../workflows/entity/continue-as-new.ts';
import { pinSearched, withhold, writeFailed } from '../../../workflows/export-site/deployments.ts';
import * as histories from '../../../workflows/export-site/histories.ts';
import { linkFailed, lockSite, rememberJob } from '../../../workflows/export-site/jobs.ts';
import { addRequest } from '../../../workflows/export-site/schedule.ts';
import { type MutableState, newState, restoreState, serializeState } from '../../../workflows/export-site/state.ts';
import { applyDeliveries } from '../../../workflows/export-site/transitions.ts';
import { has, jobOf, linkOf, NOW_MS, siteOf, timeOf } from './build-state.ts';

const LONGEST = '\u0001'.repeat(10_000);
const ORDINARY = ['How to move a workspace to another region', '7d9f3c52-8f2b-4f6e-9b55-0c5f3e0a8a11'] as const;

/** Fills every history with texts that were made from this one. Characters such as U+0001 take six bytes each in JSON. */
function fillHistories(state: MutableState, text: string, id: string): void {
  const event = {
    source: '',
    topic: text,
    action: 'publish',
    id: '',
    title: text,
    url: '',
    author: text,
    at: '',
  } as const;
  const long = text.slice(0, 200);
  for (let index = 0; index <= 200; index++) {
    const ref = { id: `${index} ${id}`, source: long, receivedAt: timeOf(index), dedupeMs: 1 };
    histories.exportBegan(state.histories, { ...addRequest(null, NOW_MS), count: 1, newest: event }, NOW_MS);
    histories.deliveryArrived(state.histories, ref, 'coalesced', event);
    histories.exportContinued(state.histories, { jobId: id.slice(0, 500), version: long, exportedAt: timeOf(index) });
    histories.exportHindered(state.histories, text);
    histories.exportEnded(state.histories, index % 2 === 0 ? 'failed' : 'served', { waiting: false });
    histories.refreshEnded(state.histories, { version: long, expiresAt: timeOf(index), error: `${index} ${text}` });
    const action = histories.actionBegan(state.histories, { action: 'rollback', actor: text, detail: text });
    histories.actionFailed(action, text);
  }
}

/** 25,000 publishes that wait, of which 20,000 are remembered. */
function fillSeen(state: MutableState): ReturnType<typeof createSeenDeliveries> {
  const seen = createSeenDeliveries();
  const long = 'ß€'.repeat(5_000);
  const newest = {
    source: long,
    topic: long,
    action: 'publish',
    id: long,
    title: long,
    url: long,
    author: long,
    at: long,
  } as const;
  for (let round = 0; round < 25; round++) {
    const deliveries = Array.from({ length: 1_000 }, (_, index) => {
      return {
        id: `${round}-${index}-${long.slice(0, 200)}`,
        source: 'contentful',
        receivedAt: timeOf(0),
        dedupeMs: 1,
      };
    });
    applyDeliveries(state, seen, { deliveries, newest }, NOW_MS);
  }
  return seen;
}

/** A site in which everything has failed everywhere: 50 deployments that use 50 old jobs, and 50 newer jobs. */
function worstSite(): MutableState {
  const names = Array.from({ length: 50 }, (_, index) => `${'n'.repeat(97)}${index}`);
  const state = siteOf(0, Object.fromEntries(names.map((name, index) => [name, has(index + 1)])));
  for (let version = 1; version <= 101; version++)
    rememberJob(state, jobOf(version, { version: `v${version}`.padEnd(100, '.') }));
  state.newest = 'j101';
  const text = 'e'.repeat(10_000);
  for (const { jobId } of state.jobs) linkFailed(state, jobId, failedLink(text.slice(0, 500)));
  for (const each of state.deployments) {
    writeFailed(each, jobOf(101), text, NOW_MS);
    withhold(each, 'j101', text, timeOf(0));
    each.pin = 'v'.repeat(200);
    pinSearched(each, each.pin, { againAtMs: null, versions: Array.from({ length: 10 }, () => 'v'.repeat(100)) });
    const { jobId, version } = jobOf(101);
    each.proposed = {
      jobId,
      version,
      url: `https://git.example.com/${'u'.repeat(200)}`,
      link: linkOf(),
      epoch: 1,
      sequence: 1,
    };
  }
  lockSite(state, { by: 'b'.repeat(200), at: timeOf(0), reason: 'r'.repeat(500) });
  return state;
}

const failedLink = (message: string) => {
  return { failures: 9, notBeforeMs: NOW_MS, gone: true, error: { message, status: 503, at: timeOf(0) } };
};

const restored = (state: MutableState, seen = createSeenDeliveries()) =>
  restoreState(JSON.parse(JSON.stringify(serializeState(state, seen))));

describe('the continue-as-new input of a site', () => {
  it('is restored unchanged', () => {
    const seen = createSeenDeliveries();
    seen.isResend({ id: 'a', source: 's', dedupeMs: 60_000 }, NOW_MS);
    const state = worstSite();
    const again = restored(state, seen);
    expect(again.state).toEqual(state);
    expect(again.seen.isResend({ id: 'a', source: 's', dedupeMs: 60_000 }, NOW_MS + 5_000)).toBe(true);
  });

  it('of the worst site fits: the histories make room first, then the oldest deliveries', () => {
    const state = worstSite();
    fillHistories(state, ...ORDINARY);
    const seen = fillSeen(state);
    const input = serializeState(state, seen);
    expect(sizeBytes(input)).toBeLessThan(MAX_INPUT_BYTES);
    expect([input.deployments.length, input.jobs.length, input.pending?.count]).toEqual([50, 101, 25_000]);
    for (const records of Object.values(input.histories)) expect(records.length).toBeGreaterThan(0);
    expect(input.seen.length).toBeGreaterThan(0);
  });

  it('of a site with room keeps all deliveries that are remembered, and the newest records of the longest texts', () => {
    const state = newState(NOW_MS);
    fillHistories(state, LONGEST, LONGEST);
    const input = serializeState(state, fillSeen(newState(NOW_MS)));
    expect(input.seen.reduce((sum, { entries }) => sum + entries.length / 13, 0)).toBe(20_000);
    expect(sizeBytes(input.histories)).toBeLessThan(160_000);
    for (const records of Object.values(input.histories)) expect(records.length).toBeGreaterThan(0);
    expect(input.histories.deliveries[0]).toEqual(state.histories.deliveries[0]);
  });

  it('keeps full histories of ordinary texts, and continues the numbers of the exports', () => {
    const state = newState(NOW_MS);
    fillHistories(state, ...ORDINARY);
    const kept = restored(state, fillSeen(newState(NOW_MS))).state.histories;
    expect(kept).toEqual(state.histories);
    const counts = Object.entries(kept).map(([name, records]) => [name, records.length]);
    expect(Object.fromEntries(counts)).toEqual(HISTORY_LIMITS);
    histories.exportBegan(kept, addRequest(null, NOW_MS), NOW_MS);
    expect(kept.exports[0]?.number).toBe(202);
  });

  it('has the jobs in use, the 50 newest others, and no trouble of forgotten ones', () => {
    const state = siteOf(0, { docs: has(1) });
    for (let version = 1; version <= 200; version++) {
      rememberJob(state, jobOf(version));
      linkFailed(state, `j${version}`, failedLink(''));
    }
    rememberJob(state, jobOf(0, { jobId: 'found', version: 'v1.5', upTo: 0 }));
    const { jobs, linkTrouble } = restored(state).state;
    expect([jobs.length, jobs[0]?.jobId, jobs[49]?.jobId]).toEqual([52, 'j200', 'j151']);
    expect(jobs.slice(50).map(({ jobId }) => jobId)).toEqual(['j1', 'found']);
    expect(Object.keys(linkTrouble)).toHaveLength(51);
  });

  const { seen: _, ...empty } = serializeState(newState(NOW_MS), createSeenDeliveries());
  it.each([
    ['with an unknown format', { ...empty, seen: [], format: 2 }],
    ['with missing fields', { format: 1 }],
    ['that is not an object', 'hello'],
    ['with a truncated id', { ...empty, seen: [{ hour: 1, entries: 'abc' }] }],
  ])('is rejected %s, so that no site starts over by mistake', (_, input) => {
    expect(() => restoreState(input)).toThrow();
  });
});
