import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { BUSY_HERE, createJobMutex } from '../../../../platform/activities/export/job-mutex.ts';
import { createGate } from '../../../helpers/system/gate.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const ROUND_MS = 50_000;
const never = new Promise<never>(() => undefined);

/** A process whose pauses are over at once, or never. */
function oneAtATime({ isPatient }: { isPatient: boolean }) {
  const clock = { now: () => NOW_MS, sleep: () => (isPatient ? never : Promise.resolve()) };
  return createJobMutex({ logger: pino({ level: 'silent' }), clock });
}

function sharedWork() {
  const given: string[] = [];
  const gaveBack = createGate();
  const giveBack = async (tokens: readonly string[]): Promise<void> => {
    given.push(...tokens);
    gaveBack.open();
  };
  return { given, gaveBack, shared: { idle: 'idle', maxMs: ROUND_MS, giveBack } };
}

const activity = (attempt = 1) => new MockActivityEnvironment({ attempt });
const worked = async (): Promise<string> => 'worked';

describe('work on one job in one process', () => {
  it('runs one at a time: the second gives back what it held, and is idle once the first has ended', async () => {
    const { run } = oneAtATime({ isPatient: true });
    const { given, gaveBack, shared } = sharedWork();
    const gate = createGate();
    const first = activity().run(() => run('job', shared, () => gate.pass().then(worked)));
    const second = activity(20).run(() => run('job', shared, worked));
    expect(await activity().run(() => run('another job', shared, worked))).toBe('worked');
    await gaveBack.pass();
    expect(given).toHaveLength(19);
    gate.open();
    expect(await Promise.all([first, second])).toEqual(['worked', 'idle']);
    expect(await activity().run(() => run('job', shared, worked))).toBe('worked');
  });

  it('is offered to other processes meanwhile; one that accepts works for what is left of the round', async () => {
    const { run } = oneAtATime({ isPatient: false });
    const { shared } = sharedWork();
    const gate = createGate();
    const first = activity().run(() => run('job', shared, () => gate.pass().then(worked)));
    const waiting = activity();
    const shown: unknown[] = [];
    waiting.on('heartbeat', (details: unknown) => shown.push(details));
    await expect(waiting.run(() => run('job', shared, worked))).rejects.toMatchObject({
      ...{ type: BUSY_HERE, nonRetryable: false, category: 'BENIGN' },
    });
    gate.open();
    expect(await first).toBe('worked');

    const later = (agoMs: number, heartbeatDetails: unknown) =>
      new MockActivityEnvironment({ attempt: 3, scheduledTimestampMs: NOW_MS - agoMs, heartbeatDetails }).run(() =>
        run('job', shared, async (maxMs) => String(maxMs)),
      );
    expect(await later(20_000, shown[0])).toBe('30000');
    expect(await later(60_000, shown[0])).toBe('idle');
    // An attempt that failed otherwise gets a whole round.
    expect(await later(60_000, { fetched: 3 })).toBe(String(ROUND_MS));
  });

  it('leaves the failure of the first to the first', async () => {
    const { run } = oneAtATime({ isPatient: true });
    const { shared } = sharedWork();
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
