import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { Command } from 'commander';
import { errorCode } from '../../base/error-code.ts';
import { restoreBackup } from '../../programs/process/backup-archive.ts';
import { createContext } from '../../programs/process/context.ts';
import { openHome } from '../../programs/process/home.ts';
import { UsageError } from '../command-error.ts';
import { printJson, printLines } from '../output.ts';

export function restoreCommand(): Command {
  return new Command('restore')
    .argument('<file>', 'what galley backup wrote')
    .option('--json', 'print {home, version, createdAt}')
    .description('restore a backup into an empty GALLEY_HOME')
    .addHelpText(
      'after',
      '\nThe archive is verified before anything is put in place. Restore what was backed up by other means first, then start\n' +
        'galley up.',
    )
    .action(async (file: string, { json }: { json?: boolean }) => {
      const { settings } = createContext({ quiet: true });
      await access(file).catch((error: unknown) => {
        throw new UsageError(`FILE: expected a readable backup at ${file} (${errorCode(error) ?? error})`);
      });
      const home = openHome(settings.home);
      const unlock = await home.lockEmpty();
      try {
        const { version, createdAt } = await restoreBackup(createReadStream(file), settings.home);
        const restored = { home: settings.home, version, createdAt };
        if (json) printJson(restored);
        else printLines([`${settings.home} is as it was at ${createdAt}: start galley up`]);
      } finally {
        await unlock();
      }
    });
}
