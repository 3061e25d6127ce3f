import { Command } from 'commander';
import { createContext } from '../../programs/process/context.ts';
import { openHome } from '../../programs/process/home.ts';
import { runService } from '../../programs/process/run-service.ts';
import { requireDatabaseUrl } from '../../programs/settings/require-database-url.ts';

export function platformCommand(): Command {
  return new Command('platform')
    .description('serve the Admin API')
    .addHelpText(
      'after',
      '\nListens on HOST (127.0.0.1) and PLATFORM_PORT (3100); needs DATABASE_URL. Waits for the database and for Temporal,\n' +
        'and responds 503 only while the database is unavailable. OPERATOR_TOKEN opens its admin routes and the\ndashboard. Without members, it prints a link for the first administrator.',
    )
    .action(async () => {
      const { settings, logger } = createContext();
      requireDatabaseUrl(settings);
      await runService(logger, async (lifetime) => {
        const { startPlatformApi } = await import('../../programs/platform.ts');
        const { openPlatformStore } = await import('../../programs/parts/platform-store.ts');
        const { openTemporal } = await import('../../programs/temporal/temporal.ts');
        const { startTracing } = await import('../../programs/tracing/tracing.ts');
        await startTracing(settings, 'platform', lifetime);
        const temporal = await openTemporal({ settings, logger }, lifetime);
        const store = await openPlatformStore({ settings, home: openHome(settings.home), logger, lifetime });
        const { operatorToken } = settings;
        const service = await startPlatformApi({ settings, store, temporal, operatorToken, logger, lifetime });
        // After the line `ready`, because the database may come later.
        void service.setupUrl.then((url) => {
          if (url !== undefined) process.stdout.write(`first administrator, once within 24 hours: ${url}\n`);
        });
        return `platform ${service.url}`;
      });
    });
}
