import { z } from 'zod';
import type { FromProgram, JobTypes, ToProgram } from './job-process.ts';

type JobContext<Types extends JobTypes> = {
  signal: AbortSignal;
  notify(notice: Types['notice']): void;
  /** Resolves with the reply to a notice. */
  ask(notice: Types['notice']): Promise<Types['reply']>;
};

/**
 * Runs the jobs of a `JobProcess` in this process, until its parent ends.
 * @param answer never rejects
 * @returns sends a notice about no job
 */
export function serveJobs<Types extends JobTypes>(
  answer: (job: Types['job'], context: JobContext<Types>) => Promise<Types['result']>,
): (notice: Types['notice']) => void {
  type Running = { aborting: AbortController; onReply?: (reply: Types['reply']) => void };
  const running = new Map<number, Running>();
  const send = (message: FromProgram<Types>): void => void process.send?.(message);

  async function run(id: number, job: Types['job']): Promise<void> {
    const own: Running = { aborting: new AbortController() };
    running.set(id, own);
    const notify = (notice: Types['notice']): void => send({ id, notice });
    const ask = (notice: Types['notice']): Promise<Types['reply']> =>
      new Promise((resolve) => {
        own.onReply = resolve;
        notify(notice);
      });
    const result = await answer(job, { signal: own.aborting.signal, notify, ask });
    running.delete(id);
    send({ id, result });
  }

  const messages = z.custom<ToProgram<Types>>();
  process.on('message', (received) => {
    const message = messages.parse(received);
    const { id } = message;
    if ('job' in message) void run(id, message.job);
    else if ('abort' in message) running.get(id)?.aborting.abort();
    else running.get(id)?.onReply?.(message.reply);
  });
  endWithParent();
  return (notice) => send({ id: 0, notice });
}

/** Ends this process with its parent, and only then: Ctrl-C reaches the whole group, but the parent may need it longer. */
export function endWithParent(): void {
  // `process.exit` would wait for threads that hang in a file system.
  const end = (): void => void process.kill(process.pid, 'SIGKILL');
  process.on('disconnect', end);
  // The parent may have ended before this line.
  if (!process.connected) end();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
}
