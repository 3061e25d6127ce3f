import type { Logger } from 'pino';
import { errorText } from '../../base/error-code.ts';
import type { Context } from './context.ts';
import { makePrivate } from './make-folder.ts';

/** Running parts, ended in reverse order of their start. */
export interface Lifetime {
  /** Aborted as soon as the stop begins: pending waits and starts give up. */
  signal: AbortSignal;
  /** Registers something for `stop` to end. One that takes too long or fails doesn't keep the others from ending. */
  onStop(name: string, stop: () => Promise<unknown>): void;
  /** Reports that a part has failed, which ends the program. Ignored once the stop has begun. */
  fail(error: Error): void;
  /** Rejects with the error of `fail`; never resolves. */
  failed: Promise<never>;
  /** Ends everything; safe to call more than once. */
  stop(): Promise<void>;
}

/**
 * Shared time of all parts, from the 15 s in which Ctrl-C must end everything. The slowest are the workers, which all
 * drain from the moment of the stop.
 */
const STOP_TIMEOUT_MS = 11_500;

/** What a part gets at least if earlier ones used all the time. */
const LAST_STEP_TIMEOUT_MS = 500;

export function createLifetime(logger: Logger): Lifetime {
  const abort = new AbortController();
  const steps: { name: string; stop: () => Promise<unknown> }[] = [];
  let stopping: Promise<void> | undefined;
  let reportFailure: (error: Error) => void = () => {};
  const failed = new Promise<never>((_resolve, reject) => {
    reportFailure = reject;
  });
  failed.catch(() => {});
  const run = async (): Promise<void> => {
    const deadline = Date.now() + STOP_TIMEOUT_MS;
    abort.abort(new Error('stopping'));
    for (let step = steps.pop(); step; step = steps.pop())
      await stopWithin(step, Math.max(deadline - Date.now(), LAST_STEP_TIMEOUT_MS));
  };
  const stopWithin = async ({ name, stop }: (typeof steps)[number], timeoutMs: number): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        logger.warn({ part: name }, 'Did not stop in time');
        resolve();
      }, timeoutMs);
    });
    const ended = Promise.resolve()
      .then(stop)
      .catch((error: unknown) => logger.warn({ part: name, reason: errorText(error) }, 'Did not stop cleanly'));
    await Promise.race([ended, late]);
    clearTimeout(timer);
  };
  return {
    signal: abort.signal,
    onStop: (name, stop) => {
      steps.push({ name, stop });
    },
    fail: (error) => {
      if (!abort.signal.aborted) reportFailure(error);
    },
    failed,
    stop: async () => {
      stopping ??= run();
      await stopping;
    },
  };
}

/** Under npm, Ctrl-C arrives twice: from the terminal, and passed on by npm. Treat both as one. */
const SAME_WISH_MS = 1_000;

/** Resolves at the first SIGINT or SIGTERM; a later one ends the process immediately. */
export async function untilSignal(): Promise<NodeJS.Signals> {
  return await new Promise((resolve) => {
    let askedAt: number | undefined;
    for (const name of ['SIGINT', 'SIGTERM'] as const)
      process.on(name, () => {
        if (askedAt !== undefined && Date.now() - askedAt > SAME_WISH_MS) process.exit(1);
        askedAt ??= Date.now();
        resolve(name);
      });
  });
}

/**
 * Runs a program until SIGINT or SIGTERM, then ends all its parts. `start` resolves with the text of the line `ready
 * …`; a signal interrupts it too, so slow imports belong in there. A GALLEY_HOME that is there already becomes private.
 */
export async function runService(
  { settings, logger }: Context,
  start: (lifetime: Lifetime) => Promise<string>,
): Promise<void> {
  const lifetime = createLifetime(logger);
  const asked = untilSignal();
  const started = (async () => {
    // Loaded here, because most commands send no request.
    const { surviveEndedResponses } = await import('../../base/survive-ended-responses.ts');
    surviveEndedResponses();
    await makePrivate(settings.home).catch((error: unknown) => {
      logger.warn({ reason: errorText(error) }, 'Other users may be able to read GALLEY_HOME');
    });
    const ready = await start(lifetime);
    // A start that a signal interrupted may still complete.
    if (!lifetime.signal.aborted) process.stdout.write(`ready ${ready}\n`);
  })();
  try {
    await Promise.race([asked, lifetime.failed, started.then(() => asked)]);
  } finally {
    await lifetime.stop();
  }
}
