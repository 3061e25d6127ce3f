import { Command } from 'commander';
import { withAdmin } from '../admin/with-admin.ts';
import { printJson, printLines } from '../output.ts';

export function membersCommand(): Command {
  const command = new Command('members').description("members of the platform's dashboard");
  command
    .command('reset')
    .argument('<email>', "of the member's account")
    .option('--json', 'print {url, expiresAt}')
    .description('make a link for a new password')
    .addHelpText('after', '\nThe link works once, within an hour. Send it to the member only.')
    .action(reset);
  return command;
}

async function reset(email: string, { json }: { json?: boolean }): Promise<void> {
  await withAdmin(async (admin) => {
    const link = await admin.createResetLink({ email });
    if (json) printJson(link);
    else printLines([link.url]);
  });
}
