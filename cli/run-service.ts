import type { Logger } from 'pino';
import { createLifetime, type Lifetime, untilSignal } from './lifetime.ts';

/**
 * Runs a program until SIGINT or SIGTERM, then ends all it started. `start` resolves with what the line `ready …` says;
 * a signal during the start ends that too, so what takes long to import is imported in there.
 */
export async function runService(logger: Logger, start: (lifetime: Lifetime) => Promise<string>): Promise<void> {
  const lifetime = createLifetime(logger);
  const asked = untilSignal();
  const started = (async () => {
    const ready = await start(lifetime);
    // A start that a signal cut short may come to its end all the same.
    if (!lifetime.signal.aborted) process.stdout.write(`ready ${ready}\n`);
  })();
  try {
    await Promise.race([asked, lifetime.failed, started.then(() => asked)]);
  } finally {
    await lifetime.stop();
  }
}
