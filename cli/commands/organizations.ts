import { Command, Option } from 'commander';
import { withAdmin } from '../admin/with-admin.ts';
import { UsageError } from '../command-error.ts';
import { printJson, printLines } from '../output.ts';

type SetOptions = { plan?: 'enterprise' | 'free'; name?: string; json?: boolean };

export function organizationsCommand(): Command {
  const command = new Command('organizations').description('organizations of the Admin API');
  command
    .command('set')
    .argument('<name>', 'as `keys list` shows it')
    .addOption(new Option('--plan <plan>', 'the new plan').choices(['enterprise', 'free']))
    .option('--name <name>', 'the new name')
    .option('--json', 'print {organization, plan}')
    .description("change an organization's plan or name")
    .addHelpText('after', '\nThe plan applies immediately, to all keys and projects of the organization.')
    .action(set);
  return command;
}

async function set(organization: string, { plan, name, json }: SetOptions): Promise<void> {
  if (plan === undefined && name === undefined) throw new UsageError('--plan or --name is needed');
  await withAdmin(async (admin) => {
    const changed = await admin.setOrganization({ organization, ...(plan && { plan }), ...(name && { name }) });
    if (json) printJson(changed);
    else printLines([`${changed.organization}: plan ${changed.plan}`]);
  });
}
