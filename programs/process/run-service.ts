import type { Logger } from 'pino';
import { createLifetime, type Lifetime, untilSignal } from './lifetime.ts';

/**
 * Runs a program until SIGINT or SIGTERM, then ends all its parts. `start` resolves with the text of the line `ready
 * …`; a signal interrupts it too, so slow imports belong in there.
 */
export async function runService(logger: Logger, start: (lifetime: Lifetime) => Promise<string>): Promise<void> {
  const lifetime = createLifetime(logger);
  const asked = untilSignal();
  const started = (async () => {
    await surviveEndedResponses();
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

/** For all requests of the process. Loaded here, because most commands make none. */
async function surviveEndedResponses(): Promise<void> {
  const { Agent, setGlobalDispatcher } = await import('undici');
  const { createConnector } = await import('../../exporter/fetch/connector.ts');
  setGlobalDispatcher(new Agent({ connect: createConnector() }));
}
