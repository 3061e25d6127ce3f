import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { BUSY_HERE, createJobMutex } from '../../../../platform/activities/export/job-mutex.ts';
import { createGate } from '../../../helpers/system/gate.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const ROUND_MS = 50_000;
const never = new Promise<never>(() => undefined);

/** The mutex of one process, which waits for ever or not at all. */
function jobMutex({ waitsForEver }: { waitsForEver: boolean }) {
  const clock = { now: () => NOW_MS, sleep: () => (waitsForEver ? never : Promise.resolve()) };
  return createJobMutex({ logger: pino({ level: 'silent' }), clock });
}

const shared = { idle: 'idle', maxMs: ROUND_MS };
const activity = (attempt = 1) => new MockActivityEnvironment({ attempt });
const worked = async (): Promise<string> => 'worked';

describe('the job mutex of a process', () => {
  it('lets the second activity end idle after the first', async () => {
    const { run } = jobMutex({ waitsForEver: true });
    const gate = createGate();
    const first = activity().run(() => run('job', shared, () => gate.pass().then(worked)));
    const second = activity(20).run(() => run('job', shared, worked));
    expect(await activity().run(() => run('another job', shared, worked))).toBe('worked');
    gate.open();
    expect(await Promise.all([first, second])).toEqual(['worked', 'idle']);
    expect(await activity().run(() => run('job', shared, worked))).toBe('worked');
  });

  it('fails a waiting activity for a retry in another process, which gets the rest of the round', async () => {
    const { run } = jobMutex({ waitsForEver: false });
    const gate = createGate();
    const first = activity().run(() => run('job', shared, () => gate.pass().then(worked)));
    const waiting = activity();
    const heartbeats: unknown[] = [];
    waiting.on('heartbeat', (details: unknown) => heartbeats.push(details));
    await expect(waiting.run(() => run('job', shared, worked))).rejects.toMatchObject({
      ...{ type: BUSY_HERE, nonRetryable: false, category: 'BENIGN' },
    });
    gate.open();
    expect(await first).toBe('worked');

    const later = (agoMs: number, heartbeatDetails: unknown) =>
      new MockActivityEnvironment({ attempt: 3, scheduledTimestampMs: NOW_MS - agoMs, heartbeatDetails }).run(() =>
        run('job', shared, async (maxMs) => String(maxMs)),
      );
    expect(await later(20_000, heartbeats[0])).toBe('30000');
    expect(await later(60_000, heartbeats[0])).toBe('idle');
    // A retry after any other failure gets a whole round.
    expect(await later(60_000, { fetched: 3 })).toBe(String(ROUND_MS));
  });

  it('does not fail the second activity if the first one fails', async () => {
    const { run } = jobMutex({ waitsForEver: true });
    const gate = createGate();
    const fail = (): never => {
      throw new Error('the database is away');
    };
    const first = activity().run(() => run('job', shared, () => gate.pass().then(fail)));
    const second = activity(20).run(() => run('job', shared, worked));
    gate.open();
    await expect(first).rejects.toThrow('the database is away');
    expect(await second).toBe('idle');
  });
});
