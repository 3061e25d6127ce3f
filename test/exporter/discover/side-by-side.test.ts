import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { sideBySide } from '../../../exporter/discover/side-by-side.ts';

describe('two works side by side', () => {
  it('begin at the same time, and both are awaited', async () => {
    let tell = (_word: string): void => undefined;
    const word = new Promise<string>((resolve) => {
      tell = resolve;
    });
    const { signal } = new AbortController();
    const both = sideBySide(
      signal,
      () => word,
      async () => tell('heard'),
    );
    expect(await both).toEqual(['heard', undefined]);
  });

  it.each(['one', 'other'] as const)(
    'end together where %s fails, with its reason, and nothing goes on',
    async (failing) => {
      let isOver = false;
      const fail = async (): Promise<never> => {
        throw new Error('the database is away');
      };
      const wait = async (signal: AbortSignal): Promise<void> => {
        await once(signal, 'abort');
        await turn();
        isOver = true;
        signal.throwIfAborted();
      };
      const { signal } = new AbortController();
      const both = failing === 'one' ? sideBySide(signal, fail, wait) : sideBySide(signal, wait, fail);
      await expect(both).rejects.toThrow('the database is away');
      expect(isOver).toBe(true);
    },
  );

  it('are both aborted by whoever asked for them', async () => {
    const asking = new AbortController();
    const wait = (signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    const both = sideBySide(asking.signal, wait, wait);
    asking.abort(new Error('cancelled'));
    await expect(both).rejects.toThrow('cancelled');
  });
});
