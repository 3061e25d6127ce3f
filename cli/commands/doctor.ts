import { Command } from 'commander';

const HELP = `
Checks the configuration, the files, and every server that it names, and says how to repair what is wrong. Starts nothing.

Exit codes: 0 nothing failed, 1 a check failed, 2 the configuration is wrong.`;

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check configuration, connections, permissions and versions, and say how to fix what is wrong')
    .option('--json', 'print {ok, checks} as JSON')
    .addHelpText('after', HELP)
    .action(async (options: { json?: boolean }) => {
      const { doctor } = await import('../doctor.ts');
      await doctor(options);
    });
}
