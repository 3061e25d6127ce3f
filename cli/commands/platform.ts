import { Command } from 'commander';
import { createContext } from '../../programs/process/context.ts';
import { runService } from '../../programs/process/lifetime.ts';
import { requireDatabaseUrl } from '../../programs/settings/platform.ts';

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
      await runService({ settings, logger }, async (lifetime) => {
        const { startPlatformProcess } = await import('../../programs/platform.ts');
        const service = await startPlatformProcess({ settings, logger, lifetime });
        // After the line `ready`, because the database may come later.
        void service.setupUrl.then((url) => {
          if (url !== undefined) process.stdout.write(`first administrator, once within 24 hours: ${url}\n`);
        });
        return `platform ${service.url}`;
      });
    });
}
