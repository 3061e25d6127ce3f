import { Command } from 'commander';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { createContext } from '../context.ts';

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
      if (settings.databaseUrl === undefined)
        throw new ConfigurationError(['DATABASE_URL: expected postgres://user:password@host/name']);
      const { openDatabase } = await import('../../platform/store/database.ts');
      const database = await openDatabase({ url: settings.databaseUrl, logger });
      await database.close();
      process.stdout.write('the database is migrated\n');
    });
}
