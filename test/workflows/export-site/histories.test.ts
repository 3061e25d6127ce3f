import type { PublishEvent } from '../../../contract/publish-event.ts';
import type { ExportRecord } from '../../../contract/site-state.ts';
import { createSeenDeliveries } from '../../../workflows/deliveries/seen-deliveries.ts';
import { jobRolledBack, jobServed, jobWritten, refreshEnded } from '../../../workflows/export-site/histories.ts';
import { type MutableState, newState } from '../../../workflows/export-site/state.ts';
import {
  applyDeliveries,
  dropExports,
  exportedJob,
  holdForReview,
  jobFinished,
  jobStarted,
  recordExportFailure,
  releaseExport,
  releaseReview,
  replaceExport,
  requestExport,
  takePending,
} from '../../../workflows/export-site/transitions.ts';
import type { Failure } from '../../../workflows/failures/read-failure.ts';

const NOON_MS = Date.UTC(2026, 10, 21, 12);
const at = new Date(NOON_MS).toISOString();

let state: MutableState;
let seen: ReturnType<typeof createSeenDeliveries>;

beforeEach(() => {
  state = newState(NOON_MS);
  seen = createSeenDeliveries();
});

function publish(id: string, event: Partial<PublishEvent> = {}): void {
  const newest = {
    source: 's',
    topic: 't',
    action: 'publish',
    id,
    title: id,
    url: '',
    author: '',
    at,
    ...event,
  } as const;
  const deliveries = [{ id, source: 's', receivedAt: at, dedupeMs: 86_400_000 }];
  applyDeliveries(state, seen, { deliveries, newest }, NOON_MS);
}

type Exporting = NonNullable<MutableState['exporting']>;

function begin(jobId: string): Exporting {
  takePending(state, 'docs.example.com', NOON_MS + 5_000);
  const { exporting } = state;
  if (exporting === null) throw new Error('Nothing is pending');
  jobStarted(state, exporting, { jobId, version: null, createdAt: null, ageMs: null });
  return exporting;
}

function release(exporting: Exporting): void {
  releaseExport(state, exportedJob(exporting));
}

function fail(exporting: Exporting, type: Failure['type'] = 'JobFailed'): void {
  recordExportFailure(
    state,
    exporting,
    { type, message: `it was ${type}`, status: null, retryAfterMs: null },
    NOON_MS,
    0,
  );
}

const collectedBy = (): string[] =>
  state.histories.deliveries.map(({ id, exportNumber, why }) => `${id}: ${exportNumber} ${why ?? ''}`.trim()).reverse();

const exportsOf = (): string[] => state.histories.exports.map(({ number, outcome }) => `${number} ${outcome}`);

describe('an export in the history of a site', () => {
  it('records its publishes, its author and its times', () => {
    publish('a', { author: 'ada@example.com' });
    publish('b', { title: 'Second', author: 'grace@example.com' });
    const exporting = begin('se_1');
    jobFinished(state, exporting, { status: 'completed', version: 'v1', pageCount: 12, exportedAt: at });
    release(exporting);
    // Only the first deployment counts.
    for (const time of [at, 'later']) {
      jobWritten(state.histories, 'se_1');
      jobServed(state.histories, 'se_1', time);
      jobRolledBack(state.histories, 'se_1', time);
    }
    expect(state.histories.exports).toEqual<ExportRecord[]>([
      {
        number: 1,
        jobId: 'se_1',
        version: 'v1',
        trigger: 'publish',
        publishCount: 2,
        title: 'Second',
        author: 'grace@example.com',
        requestedAt: at,
        startedAt: new Date(NOON_MS + 5_000).toISOString(),
        exportedAt: at,
        writtenAt: expect.any(String),
        servedAt: at,
        endedAt: expect.any(String),
        rolledBackAt: at,
        outcome: null,
        error: null,
        pageCount: 12,
      },
    ]);
    expect(collectedBy()).toEqual(['a: 1', 'b: 1']);
  });

  it('names the operator who requested it, or the lost bundle', () => {
    requestExport(state, NOON_MS, { by: 'ada', lostBundle: false });
    release(begin('se_1'));
    requestExport(state, NOON_MS, { by: null, lostBundle: true });
    release(begin('se_2'));
    expect(state.histories.exports).toMatchObject([
      { number: 2, trigger: 'lost-bundle', author: null, publishCount: 0 },
      { number: 1, trigger: 'request', author: 'ada', publishCount: 0 },
    ]);
  });

  it('passes its deliveries to the next export if it failed or was replaced', () => {
    publish('a');
    fail(begin('se_1'));
    expect(collectedBy()).toEqual(['a: null']);
    publish('b');
    replaceExport(state, begin('se_2'));
    publish('c');
    release(begin('se_3'));
    publish('d');
    expect(exportsOf()).toEqual(['3 null', '2 superseded', '1 failed']);
    expect(state.histories.exports[2]).toMatchObject({ error: 'it was JobFailed', endedAt: expect.any(String) });
    expect(collectedBy()).toEqual(['a: 3', 'b: 3', 'c: 3', 'd: null']);
  });

  it('keeps its record when retried with the same job, and shows the error until it is exported', () => {
    publish('a');
    const exporting = begin('se_1');
    fail(exporting, 'Unavailable');
    expect(state.histories.exports).toMatchObject([{ outcome: null, error: 'it was Unavailable', endedAt: null }]);
    release(exporting);
    expect(state.histories.exports).toMatchObject([{ number: 1, outcome: null, error: null }]);
  });

  it('is canceled by a rollback, which also drops waiting deliveries', () => {
    publish('a');
    begin('se_1');
    publish('b');
    dropExports(state, 2);
    publish('c');
    release(begin('se_2'));
    expect(exportsOf()).toEqual(['2 null', '1 canceled']);
    expect(collectedBy()).toEqual(['a: 1', 'b: undefined a rollback dropped it', 'c: 2']);
  });

  it('is held by a guard until a person or a newer export decides', () => {
    for (const jobId of ['se_1', 'se_2']) {
      publish(jobId);
      holdForReview(state, exportedJob(begin(jobId)), ['20 % fewer pages']);
    }
    expect(exportsOf()).toEqual(['2 held', '1 superseded']);
    releaseReview(state);
    expect([exportsOf(), state.newest, state.review]).toEqual([['2 null', '1 superseded'], 'se_2', null]);
  });

  it.each([Number.NaN, 1.5, 1e300, Number.POSITIVE_INFINITY])('ignores a page count of %d', (pageCount) => {
    publish('a');
    jobFinished(state, begin('se_1'), { status: 'completed', version: 'v1', pageCount, exportedAt: null });
    expect(state.histories.exports).toMatchObject([{ pageCount: null }]);
  });

  it('stays listed while later ones fail for days', () => {
    publish('a');
    release(begin('se_0'));
    publish('b');
    for (let index = 1; index <= 200; index++) fail(begin(`se_${index}`));
    expect(exportsOf()).toHaveLength(11);
    expect(exportsOf().slice(-2)).toEqual(['192 failed', '1 null']);
    expect(collectedBy()).toEqual(['a: 1', 'b: null']);
  });
});

describe('a delivery in the history of a site', () => {
  it('has no export if it is a resend', () => {
    publish('a');
    publish('a');
    expect(state.histories.deliveries).toMatchObject([
      { outcome: 'duplicate' },
      { outcome: 'started', exportNumber: null },
    ]);
    release(begin('se_1'));
    expect(collectedBy()).toEqual(['a: 1', 'a: undefined']);
  });

  it('has truncated texts without split characters', () => {
    publish('😀'.repeat(500), { author: '😀'.repeat(500) });
    const [delivery] = state.histories.deliveries;
    expect(delivery).toMatchObject({ title: '😀'.repeat(100), author: '😀'.repeat(50), id: '😀'.repeat(100) });
  });
});

describe('a refresh in the history of a site', () => {
  it('is listed once if it fails repeatedly', () => {
    const failed = { version: 'v1', expiresAt: null, error: 'no response' };
    for (const record of [{ ...failed, expiresAt: at, error: null }, failed, failed, failed]) {
      refreshEnded(state.histories, record);
    }
    expect(state.histories.refreshes).toMatchObject([failed, { error: null }]);
  });
});
