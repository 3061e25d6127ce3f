import pino from 'pino';
import { createLifetime } from '../../cli/lifetime.ts';
import { allowedMs } from '../helpers/allowed-ms.ts';

const logger = pino({ level: 'silent' });

describe('a lifetime', () => {
  test('ends what was started in the opposite order, also past one that fails', async () => {
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

  test('does not wait for ever for one that hangs, and leaves the others their turn', async () => {
    const lifetime = createLifetime(logger);
    let databaseEnded = false;
    lifetime.onStop('database', async () => {
      databaseEnded = true;
    });
    lifetime.onStop('hanging', () => new Promise(() => {}));
    const startedAt = Date.now();
    await lifetime.stop();
    expect(databaseEnded).toBe(true);
    expect(Date.now() - startedAt).toBeLessThan(allowedMs(15_000));
  });

  test('tells waits in flight at once, and ends only once', async () => {
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

  test('reports a part that can not go on, but not one that ends because of the stop', async () => {
    const failing = createLifetime(logger);
    failing.fail(new Error('Temporal ended by itself'));
    await expect(failing.failed).rejects.toThrow('Temporal ended by itself');

    const stopping = createLifetime(logger);
    await stopping.stop();
    stopping.fail(new Error('ended'));
    expect(await Promise.race([stopping.failed, Promise.resolve('quiet')])).toBe('quiet');
  });
});
