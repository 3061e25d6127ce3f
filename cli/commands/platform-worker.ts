import { Command } from 'commander';
import { createContext } from '../context.ts';
import { keepHeapSmall } from '../heap-growth.ts';
import { openHome } from '../home.ts';
import { runService } from '../run-service.ts';

export function platformWorkerCommand(): Command {
  return new Command('platform-worker')
    .description("run the Admin API's jobs: export sites, and let agents work")
    .addHelpText(
      'after',
      '\nNeeds DATABASE_URL, and the OBJECT_STORE_URL of the platform. Waits for the database and for Temporal as long as\n' +
        'it takes. Any number may run and share the crawl. SIGINT and SIGTERM end it.',
    )
    .action(async () => {
      keepHeapSmall();
      const { settings, logger } = createContext();
      await runService(logger, async (lifetime) => {
        const { openPlatformStore } = await import('../programs/platform-store.ts');
        const { startPlatformWorker } = await import('../programs/platform-worker.ts');
        const { registerSearchAttributes } = await import('../search-attributes.ts');
        const { listeningUrl } = await import('../serve.ts');
        const { openTemporal } = await import('../temporal.ts');
        const { installTemporalRuntime } = await import('../temporal-runtime.ts');
        installTemporalRuntime(logger);
        const temporal = openTemporal({ settings, logger }, lifetime);
        const { client, namespace } = temporal;
        const searchAttributes = registerSearchAttributes({ client, namespace, logger, signal: lifetime.signal });
        const home = openHome(settings.home);
        const store = await openPlatformStore({ settings, home, logger, lifetime });
        const { host, platformPort: port } = settings;
        const publicUrl = settings.platformPublicUrl ?? listeningUrl({ host, port });
        await startPlatformWorker({ settings, home, publicUrl, store, temporal, searchAttributes, logger, lifetime });
        return `platform-worker at ${temporal.address}`;
      });
    });
}
