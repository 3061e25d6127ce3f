import type { PublishEvent } from '../../../contract/publish-event.ts';
import type { ExportRecord } from '../../../contract/site-state.ts';
import { createSeenDeliveries } from '../../../workflows/deliveries/seen-deliveries.ts';
import { jobDeployed, refreshEnded } from '../../../workflows/export-site/histories.ts';
import { type MutableState, newState } from '../../../workflows/export-site/state.ts';
import {
  applyDeliveries,
  dropExports,
  endExport,
  jobFinished,
  jobStarted,
  recordExportFailure,
  requestExport,
  requestExportInsteadOf,
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

function begin(jobId: string): NonNullable<MutableState['exporting']> {
  takePending(state, 'docs.example.com', NOON_MS + 5_000);
  const { exporting } = state;
  if (exporting === null) throw new Error('Nothing is pending');
  jobStarted(state, exporting, { jobId, version: null, createdAt: null, ageMs: null });
  return exporting;
}

function fail(exporting: NonNullable<MutableState['exporting']>, type: Failure['type'] = 'JobFailed'): void {
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
    jobDeployed(state.histories, 'se_1');
    endExport(state, exporting, 'deployed');
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
        deployedAt: expect.any(String),
        servedAt: null,
        endedAt: expect.any(String),
        outcome: 'deployed',
        error: null,
        pageCount: 12,
      },
    ]);
    expect(collectedBy()).toEqual(['a: 1', 'b: 1']);
  });

  it('names the operator who requested it, or the lost bundle', () => {
    requestExport(state, NOON_MS, { by: 'ada', lostBundle: false });
    endExport(state, begin('se_1'), 'deployed');
    state.live = { jobId: 'se_1', version: null, exportedAt: at, rolledBack: false, createdAt: null };
    requestExportInsteadOf(state, 'se_1', NOON_MS);
    endExport(state, begin('se_2'), 'deployed');
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
    endExport(state, begin('se_2'), 'replaced');
    publish('c');
    endExport(state, begin('se_3'), 'deployed');
    publish('d');
    expect(exportsOf()).toEqual(['3 deployed', '2 replaced', '1 failed']);
    expect(state.histories.exports[2]).toMatchObject({ error: 'it was JobFailed', endedAt: expect.any(String) });
    expect(collectedBy()).toEqual(['a: 3', 'b: 3', 'c: 3', 'd: null']);
  });

  it('keeps its record when retried with the same job, and shows the error until it is deployed', () => {
    publish('a');
    const exporting = begin('se_1');
    fail(exporting, 'Unavailable');
    expect(state.histories.exports).toMatchObject([{ outcome: 'running', error: 'it was Unavailable', endedAt: null }]);
    endExport(state, exporting, 'deployed');
    expect(state.histories.exports).toMatchObject([{ number: 1, outcome: 'deployed', error: null }]);
  });

  it('is canceled by a rollback, which also drops waiting deliveries', () => {
    publish('a');
    begin('se_1');
    publish('b');
    dropExports(state);
    publish('c');
    endExport(state, begin('se_2'), 'deployed');
    expect(exportsOf()).toEqual(['2 deployed', '1 canceled']);
    expect(collectedBy()).toEqual(['a: 1', 'b: undefined a rollback dropped it', 'c: 2']);
  });

  it.each([Number.NaN, 1.5, 1e300, Number.POSITIVE_INFINITY])('ignores a page count of %d', (pageCount) => {
    publish('a');
    jobFinished(state, begin('se_1'), { status: 'completed', version: 'v1', pageCount, exportedAt: null });
    expect(state.histories.exports).toMatchObject([{ pageCount: null }]);
  });

  it('stays listed while later ones fail for days', () => {
    publish('a');
    endExport(state, begin('se_0'), 'deployed');
    publish('b');
    for (let index = 1; index <= 200; index++) fail(begin(`se_${index}`));
    expect(exportsOf()).toHaveLength(11);
    expect(exportsOf().slice(-2)).toEqual(['192 failed', '1 deployed']);
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
    endExport(state, begin('se_1'), 'deployed');
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
