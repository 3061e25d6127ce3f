import { Command, Option } from 'commander';
import type { OrganizationListing } from '../../platform/admin/organizations.ts';
import { requireOrganization, withAdmin } from '../admin/with-admin.ts';
import { UsageError } from '../command-error.ts';
import { confirmDeletion } from '../confirm-deletion.ts';
import { printJson, printLines } from '../output.ts';
import { type Columns, printTable } from '../table.ts';

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
  command
    .command('list')
    .option('--json', 'print {organization, plan} of each as JSON')
    .description('list the organizations')
    .action(async ({ json }: { json?: boolean }) => {
      await withAdmin(async (admin) => {
        const found = await admin.listOrganizations();
        if (json) printJson(found);
        else printTable(found, COLUMNS, 'no organizations: galley keys create makes one');
      });
    });
  command
    .command('remove')
    .argument('<name>', 'as `organizations list` shows it')
    .option('--yes', 'do not ask')
    .option('--json', 'print {organization, plan}')
    .description('remove an organization without projects, with its keys, members and audit log')
    .action(remove);
  return command;
}

const COLUMNS: Columns<OrganizationListing> = {
  Organization: ({ organization }) => organization,
  Plan: ({ plan }) => plan,
};

async function remove(name: string, { yes, json }: { yes?: boolean; json?: boolean }): Promise<void> {
  await withAdmin(async (admin) => {
    await requireOrganization(admin, name);
    const question = `Removing ${name} ends its keys and deletes its members and audit log. This can't be undone`;
    await confirmDeletion({ question, name, yes, json });
    const removed = await admin.removeOrganization(name);
    if (json) printJson(removed);
    else printLines([`${removed.organization} was removed.`]);
  });
}

async function set(organization: string, { plan, name, json }: SetOptions): Promise<void> {
  if (plan === undefined && name === undefined) throw new UsageError('--plan or --name is needed');
  await withAdmin(async (admin) => {
    const changed = await admin.setOrganization({ organization, ...(plan && { plan }), ...(name && { name }) });
    if (json) printJson(changed);
    else printLines([`${changed.organization}: plan ${changed.plan}`]);
  });
}
