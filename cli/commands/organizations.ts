import { Command, Option } from 'commander';
import { withAdmin } from '../admin/with-admin.ts';

type SetOptions = { plan: 'enterprise' | 'free'; json?: boolean };

export function organizationsCommand(): Command {
  const command = new Command('organizations').description('organizations of the Admin API');
  command
    .command('set')
    .argument('<name>', 'as `keys list` shows it')
    .addOption(new Option('--plan <plan>', 'the new plan').choices(['enterprise', 'free']).makeOptionMandatory())
    .option('--json', 'print {organization, plan}')
    .description("change an organization's plan")
    .addHelpText('after', '\nThe plan applies immediately, to all keys and projects of the organization.')
    .action(set);
  return command;
}

async function set(organization: string, { plan, json }: SetOptions): Promise<void> {
  await withAdmin(async (admin) => {
    const changed = await admin.setOrganization({ organization, plan });
    process.stdout.write(json ? `${JSON.stringify(changed)}\n` : `${changed.organization}: plan ${changed.plan}\n`);
  });
}
