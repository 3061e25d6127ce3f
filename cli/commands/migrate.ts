import { Command } from 'commander';
import { createContext } from '../../programs/process/context.ts';
import { requireDatabaseUrl } from '../../programs/settings/platform.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description("migrate the Admin API's database and exit, before a new release starts")
    .addHelpText(
      'after',
      '\nNeeds DATABASE_URL, and waits for that database. The platform and its workers also migrate it when they start;\n' +
        'any number of processes may do so at the same time.',
    )
    .action(async () => {
      const { settings, logger } = createContext();
      const url = requireDatabaseUrl(settings);
      const { openDatabase } = await import('../../platform/store/database.ts');
      const database = await openDatabase({ url, logger });
      await database.close();
      process.stdout.write('the database is migrated\n');
    });
}
