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

describe('a list of work that grows', () => {
  it('works on each item once, in order, and on no more at a time than it may', async () => {
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

  it('starts nothing more once it must not go on, and waits for what has started', async () => {
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

  it('throws the first error once all work has ended, and starts nothing more', async () => {
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

/** Works that end when they are told to; `begun` names those under way or over, in order. */
function works(maxBytes: number) {
  const budget = createByteBudget(maxBytes);
  const begun: string[] = [];
  const ends = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const use = (name: string, bytes: number): Promise<void> =>
    budget.use(bytes, () => {
      begun.push(name);
      return new Promise((resolve, reject) => ends.set(name, { resolve, reject }));
    });
  return { use, begun, end: (name: string) => ends.get(name)?.resolve(), ends };
}

/** Until all that could go on has gone on. */

describe('a budget of bytes', () => {
  it('lets works go on side by side as long as they fit, in the order they came', async () => {
    const { use, begun, end } = works(10);
    const all = [use('a', 6), use('b', 4), use('c', 6), use('d', 1)];
    await turn();
    expect(begun).toEqual(['a', 'b']);
    end('b');
    await turn();
    expect(begun).toEqual(['a', 'b']);
    end('a');
    await turn();
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    end('c');
    end('d');
    await Promise.all(all);
  });

  it('lets one that is larger than all of it go alone, and works without bytes at any time but in their turn', async () => {
    const { use, begun, end } = works(10);
    const all = [use('nothing', 0), use('large', 50), use('small', 1), use('none', 0)];
    await turn();
    expect(begun).toEqual(['nothing', 'large']);
    end('large');
    await turn();
    expect(begun).toEqual(['nothing', 'large', 'small', 'none']);
    for (const name of ['nothing', 'small', 'none']) end(name);
    await Promise.all(all);
  });

  it('gives back what a failed work had', async () => {
    const { use, begun, end, ends } = works(10);
    const failed = use('a', 10);
    const next = use('b', 10);
    await turn();
    ends.get('a')?.reject(new Error('no room on the disk'));
    await expect(failed).rejects.toThrow('no room on the disk');
    await turn();
    expect(begun).toEqual(['a', 'b']);
    end('b');
    await next;
  });
});

/** Notes each turn of the event loop, until it is told to end. */
function noteTurns(note: () => void): () => void {
  let next = setImmediate(function again() {
    note();
    next = setImmediate(again);
  });
  return () => clearImmediate(next);
}

describe('a turn of one’s own', () => {
  it('comes to those who wait one after another, with a turn of the event loop in between', async () => {
    const order: string[] = [];
    const waiting = ['first', 'second', 'third'].map(async (name) => {
      await yieldToEventLoop();
      order.push(name);
    });
    const end = noteTurns(() => order.push('others'));
    await Promise.all(waiting);
    end();
    expect(order).toEqual(['first', 'others', 'second', 'others', 'third']);
  });

  it('comes also to whoever begins to wait when nobody waits any more, and in a turn of another', async () => {
    const order: string[] = [];
    await yieldToEventLoop();
    const nested = yieldToEventLoop().then(() => order.push('nested'));
    await Promise.all([nested, yieldToEventLoop().then(() => order.push('beside'))]);
    await yieldToEventLoop();
    expect(order).toEqual(['nested', 'beside']);
  });
});
