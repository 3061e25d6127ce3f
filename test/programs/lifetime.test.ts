import { jest } from '@jest/globals';
import pino from 'pino';
import { createLifetime } from '../../programs/process/lifetime.ts';

const logger = pino({ level: 'silent' });

describe('a lifetime', () => {
  test('stops its parts in reverse order, also after one fails to stop', async () => {
    const lifetime = createLifetime(logger);
    const ended: string[] = [];
    for (const name of ['database', 'api', 'worker'])
      lifetime.onStop(name, async () => {
        ended.push(name);
        if (name === 'api') throw new Error('broken');
      });
    await lifetime.stop();
    expect(ended).toEqual(['worker', 'api', 'database']);
  });

  test('ends within 15 s even if parts hang, and still stops the others', async () => {
    jest.useFakeTimers();
    try {
      const lifetime = createLifetime(logger);
      const ended: string[] = [];
      lifetime.onStop('database', async () => ended.push('database'));
      for (const name of ['platform', 'api', 'worker']) lifetime.onStop(name, () => new Promise(() => {}));
      const stopped = lifetime.stop().then(() => ended.push('all'));
      await jest.advanceTimersByTimeAsync(11_000);
      expect(ended).toEqual([]);
      await jest.advanceTimersByTimeAsync(4_000);
      expect(ended).toEqual(['database', 'all']);
      await stopped;
    } finally {
      jest.useRealTimers();
    }
  });

  test('aborts pending waits at once, and ends only once', async () => {
    const lifetime = createLifetime(logger);
    let stops = 0;
    lifetime.onStop('counted', async () => {
      stops += 1;
    });
    const both = [lifetime.stop(), lifetime.stop()];
    expect(lifetime.signal.aborted).toBe(true);
    await Promise.all(both);
    expect(stops).toBe(1);
  });

  test('reports a part that fails, but not one that ends because of the stop', async () => {
    const failing = createLifetime(logger);
    failing.fail(new Error('Temporal ended by itself'));
    await expect(failing.failed).rejects.toThrow('Temporal ended by itself');

    const stopping = createLifetime(logger);
    await stopping.stop();
    stopping.fail(new Error('ended'));
    expect(await Promise.race([stopping.failed, Promise.resolve('quiet')])).toBe('quiet');
  });
});
