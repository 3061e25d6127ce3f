import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import {
  createByteBudget,
  createWorkList,
  sideBySide,
  type WorkList,
  workThrough,
  yieldToEventLoop,
} from '../../exporter/concurrency.ts';

describe('sideBySide', () => {
  it('starts both tasks at once and awaits both', async () => {
    let send = (_message: string): void => undefined;
    const message = new Promise<string>((resolve) => {
      send = resolve;
    });
    const { signal } = new AbortController();
    const both = sideBySide(
      signal,
      () => message,
      async () => send('received'),
    );
    expect(await both).toEqual(['received', undefined]);
  });

  it.each(['one', 'other'] as const)(
    'rejects with the failure of %s after the other task has ended',
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

  it('aborts both tasks with the signal of the caller', async () => {
    const caller = new AbortController();
    const wait = (signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    const both = sideBySide(caller.signal, wait, wait);
    caller.abort(new Error('canceled'));
    await expect(both).rejects.toThrow('canceled');
  });
});

describe('createWorkList', () => {
  it('processes each item once, in order, and at most `atOnce` at a time', async () => {
    const seen: number[] = [];
    let added = 1;
    let busy = 0;
    let most = 0;
    const list: WorkList<number> = createWorkList({ atOnce: 3, goesOn: () => true }, async (item) => {
      seen.push(item);
      busy += 1;
      most = Math.max(most, busy);
      await turn();
      for (let more = 0; more < 2 && added < 40; more += 1) {
        list.add(added);
        added += 1;
      }
      busy -= 1;
    });
    list.add(0);
    await list.ended();
    expect(seen).toEqual(Array.from({ length: 40 }, (_, index) => index));
    expect(most).toBe(3);
  });

  it('starts nothing after `goesOn` returns false, and waits for what has started', async () => {
    const ended: number[] = [];
    let mayGoOn = true;
    const list = createWorkList({ atOnce: 2, goesOn: () => mayGoOn }, async (item: number) => {
      mayGoOn = item < 1;
      await turn();
      ended.push(item);
    });
    for (const item of [0, 1, 2, 3, 4]) list.add(item);
    await list.ended();
    expect(ended).toEqual([0, 1]);
  });

  it('throws the first error after all started work has ended, and starts nothing more', async () => {
    const ended: number[] = [];
    const list = createWorkList({ atOnce: 2, goesOn: () => true }, async (item: number) => {
      if (item === 0) throw new Error('broken');
      await turn();
      ended.push(item);
    });
    for (const item of [0, 1, 2, 3]) list.add(item);
    await expect(list.ended()).rejects.toThrow('broken');
    expect(ended).toEqual([1]);
  });
});

describe('working through what is taken', () => {
  const { signal } = new AbortController();

  it('takes more while there is any, works on several items at a time, and ends when there are none', async () => {
    const taken = [[1, 2, 3], [4], []];
    const done: number[] = [];
    let running = 0;
    let most = 0;
    await workThrough(
      { take: async () => taken.shift() ?? [], atOnce: 2, goesOn: () => true, signal },
      async (item) => {
        running += 1;
        most = Math.max(most, running);
        await turn();
        running -= 1;
        done.push(item);
      },
    );
    expect([done.toSorted(), most, taken.length]).toEqual([[1, 2, 3, 4], 2, 0]);
  });

  it('aborts and awaits the others if one fails, and takes no more', async () => {
    let isOver = false;
    let takes = 0;
    const take = async () => {
      takes += 1;
      return ['waits', 'fails'];
    };
    const failed = workThrough({ take, atOnce: 2, goesOn: () => true, signal }, async (item, ending) => {
      if (item === 'fails') throw new Error('the disk is full');
      await once(ending, 'abort');
      await turn();
      isOver = true;
    });
    await expect(failed).rejects.toThrow('the disk is full');
    expect([isOver, takes]).toEqual([true, 1]);
  });
});

/** Tasks that a test ends by hand. `started` lists the started ones in order. */
function startTasks(maxBytes: number) {
  const budget = createByteBudget(maxBytes);
  const started: string[] = [];
  const ends = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const use = (name: string, bytes: number): Promise<void> =>
    budget.use(bytes, () => {
      started.push(name);
      return new Promise((resolve, reject) => ends.set(name, { resolve, reject }));
    });
  return { use, started, end: (name: string) => ends.get(name)?.resolve(), ends };
}

describe('createByteBudget', () => {
  it('runs tasks concurrently while they fit, in the order of their requests', async () => {
    const { use, started, end } = startTasks(10);
    const all = [use('a', 6), use('b', 4), use('c', 6), use('d', 1)];
    await turn();
    expect(started).toEqual(['a', 'b']);
    end('b');
    await turn();
    expect(started).toEqual(['a', 'b']);
    end('a');
    await turn();
    expect(started).toEqual(['a', 'b', 'c', 'd']);
    end('c');
    end('d');
    await Promise.all(all);
  });

  it('runs a task that is larger than the budget alone, and tasks without bytes in their turn', async () => {
    const { use, started, end } = startTasks(10);
    const all = [use('nothing', 0), use('large', 50), use('small', 1), use('none', 0)];
    await turn();
    expect(started).toEqual(['nothing', 'large']);
    end('large');
    await turn();
    expect(started).toEqual(['nothing', 'large', 'small', 'none']);
    for (const name of ['nothing', 'small', 'none']) end(name);
    await Promise.all(all);
  });

  it('returns the bytes of a failed task', async () => {
    const { use, started, end, ends } = startTasks(10);
    const failed = use('a', 10);
    const next = use('b', 10);
    await turn();
    ends.get('a')?.reject(new Error('no room on the disk'));
    await expect(failed).rejects.toThrow('no room on the disk');
    await turn();
    expect(started).toEqual(['a', 'b']);
    end('b');
    await next;
  });
});

/** Calls back in each turn of the event loop. Returns the function that stops it. */
function onEachTurn(callback: () => void): () => void {
  let next = setImmediate(function again() {
    callback();
    next = setImmediate(again);
  });
  return () => clearImmediate(next);
}

describe('yieldToEventLoop', () => {
  it('resumes callers one after another, with a turn of the event loop in between', async () => {
    const order: string[] = [];
    const waiting = ['first', 'second', 'third'].map(async (name) => {
      await yieldToEventLoop();
      order.push(name);
    });
    const end = onEachTurn(() => order.push('others'));
    await Promise.all(waiting);
    end();
    expect(order).toEqual(['first', 'others', 'second', 'others', 'third']);
  });

  it('also resumes callers when the queue is empty, and callers that call it while another one resumes', async () => {
    const order: string[] = [];
    await yieldToEventLoop();
    const nested = yieldToEventLoop().then(() => order.push('nested'));
    await Promise.all([nested, yieldToEventLoop().then(() => order.push('beside'))]);
    await yieldToEventLoop();
    expect(order).toEqual(['nested', 'beside']);
  });
});
