import { createServer } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BoundedThreads, createBoundedThreads, WorkExceeded, WorkRefused } from '../../base/bounded-threads.ts';
import type * as tasks from './thread-tasks.ts';

const module = new URL('./thread-tasks.ts', import.meta.url).href;

type Threads = BoundedThreads<typeof tasks>;

const threadsWith = (options: { limitMs?: number; memoryMiB?: number; maxWaiting?: number } = {}): Threads =>
  createBoundedThreads({ module, limitMs: 60_000, ...options });

/** Work that runs until `end` is called. */
function heldWork(threads: Threads) {
  const word = () => new Int32Array(new SharedArrayBuffer(4));
  const [runs, mayEnd] = [word(), word()];
  return {
    runs: () => Atomics.load(runs, 0),
    start: (key = 'key') => threads.run('wait', { runs, mayEnd }, key),
    async begun() {
      while (Atomics.load(runs, 0) === 0) await nextTurn();
    },
    end() {
      Atomics.store(mayEnd, 0, 1);
      Atomics.notify(mayEnd, 0);
    },
  };
}

describe('bounded threads', () => {
  it('leave the event loop free while work is held', async () => {
    const work = heldWork(threadsWith());
    const result = work.start();
    await work.begun();
    const server = createServer((_request, response) => response.end('alive')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : '';
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('alive');
    server.close();
    work.end();
    expect(await result).toBe('ended');
  });

  it('run one task at a time, share the work of a key, and refuse what would wait for too much', async () => {
    const threads = threadsWith({ maxWaiting: 1 });
    const work = heldWork(threads);
    const both = [work.start(), work.start()];
    await work.begun();
    const waiting = threads.run('double', 21, 'next');
    await expect(threads.run('double', 1, 'one too many')).rejects.toBeInstanceOf(WorkRefused);
    work.end();
    expect(await Promise.all(both)).toEqual(['ended', 'ended']);
    expect(work.runs()).toBe(1);
    expect(await waiting).toBe(42);
  });

  it.each(['neverEnd', 'fillMemory'] as const)('end a task that takes too much: %s', async (name) => {
    const threads = threadsWith(name === 'neverEnd' ? { limitMs: 20 } : { memoryMiB: 32 });
    await expect(threads.run(name, undefined, 'key')).rejects.toBeInstanceOf(WorkExceeded);
  });

  it('throw the error of a task, and go on after it', async () => {
    const threads = threadsWith();
    await expect(threads.run('fail', 'too deep', 'key')).rejects.toThrow('too deep');
    expect(await threads.run('double', 1, 'key')).toBe(2);
  });
});
