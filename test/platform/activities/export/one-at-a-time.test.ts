import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { BUSY_HERE, createOneAtATime } from '../../../../platform/activities/export/one-at-a-time.ts';
import { createGate } from '../../../helpers/system/gate.ts';

const logger = pino({ level: 'silent' });
const given: string[] = [];
const shared = {
  idle: 'idle',
  maxMs: 50_000,
  giveBack: async (tokens: readonly string[]) => void given.push(...tokens),
};
const activity = (attempt = 1) => new MockActivityEnvironment({ attempt });

describe('shares of one job in one process', () => {
  it('are worked on one at a time: what comes second gives back what it held, and is idle once the first has ended', async () => {
    const { run } = createOneAtATime({ logger });
    const gate = createGate();
    const first = activity().run(() => run('job', shared, () => gate.pass().then(() => 'worked')));
    const second = activity(20).run(() => run('job', shared, async () => 'worked'));
    const elsewhere = activity().run(() => run('another job', shared, async () => 'worked'));
    expect(await elsewhere).toBe('worked');
    while (given.length === 0) await sleep(10);
    expect(given).toHaveLength(19);
    gate.open();
    expect(await Promise.all([first, second])).toEqual(['worked', 'idle']);
    expect(await activity().run(() => run('job', shared, async () => 'worked'))).toBe('worked');
  });

  it('are offered to other processes while this one is at it', async () => {
    const { run } = createOneAtATime({ logger });
    const gate = createGate();
    const first = activity().run(() => run('job', shared, () => gate.pass().then(() => 'worked')));
    const second = activity().run(() => run('job', shared, async () => 'worked'));
    await expect(second).rejects.toMatchObject({ type: BUSY_HERE, nonRetryable: false, category: 'BENIGN' });
    gate.open();
    expect(await first).toBe('worked');
  });

  it('that take an offer up have what is left of the round, and none where it is over; one that failed has a whole one', async () => {
    const { run } = createOneAtATime({ logger });
    const gate = createGate();
    const first = activity().run(() => run('job', shared, () => gate.pass().then(() => 'worked')));
    const waiting = activity();
    const shown: unknown[] = [];
    waiting.on('heartbeat', (details: unknown) => shown.push(details));
    await expect(waiting.run(() => run('job', shared, async () => 'worked'))).rejects.toMatchObject({
      type: BUSY_HERE,
    });
    gate.open();
    await first;
    const later = (agoMs: number, heartbeatDetails: unknown) =>
      new MockActivityEnvironment({ attempt: 3, scheduledTimestampMs: Date.now() - agoMs, heartbeatDetails }).run(() =>
        run('job', shared, async (maxMs) => String(maxMs)),
      );
    const left = Number(await later(20_000, shown[0]));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(30_000);
    expect(await later(60_000, shown[0])).toBe('idle');
    expect(await later(60_000, { fetched: 3 })).toBe('50000');
  });

  it('leave the failure of the first to the first', async () => {
    const { run } = createOneAtATime({ logger });
    const gate = createGate();
    const first = activity().run(() =>
      run('job', shared, async () => {
        await gate.pass();
        throw new Error('the database is away');
      }),
    );
    const second = activity(20).run(() => run('job', shared, async () => 'worked'));
    gate.open();
    await expect(first).rejects.toThrow('the database is away');
    expect(await second).toBe('idle');
  });
});
