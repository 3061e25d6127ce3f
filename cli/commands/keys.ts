import { Command, Option } from 'commander';
import type { KeyListing } from '../../platform/admin/api-keys.ts';
import { requireOrganization, withAdmin } from '../admin/with-admin.ts';
import { printJson, printLines } from '../output.ts';
import { ago, type Columns, printTable } from '../table.ts';

const WHERE =
  '\nWorks beside a running service: on DATABASE_URL, or on the embedded database of GALLEY_HOME through the running `up`.';

type CreateOptions = {
  organization: string;
  plan?: 'enterprise' | 'free';
  name?: string;
  scope?: 'read';
  project?: string;
  json?: boolean;
};

export function keysCommand(): Command {
  const command = new Command('keys').description('keys of the Admin API');
  command
    .command('create')
    .description("create a key, and its organization if it doesn't exist")
    .requiredOption('--organization <name>', 'the organization that owns the key')
    .addOption(
      new Option('--plan <plan>', "a new organization's plan (default: enterprise)").choices(['enterprise', 'free']),
    )
    .option('--name <label>', 'what the key is for')
    .addOption(new Option('--scope <scope>', 'read: it may change nothing').choices(['read']))
    .option('--project <id>', 'it opens only this project, and ends with it')
    .option('--json', 'print {id, key, organization}')
    .addHelpText('after', `\nThe key is shown only once; Galley stores only its hash.${WHERE}`)
    .action(create);
  command
    .command('list')
    .description('list the keys, without their secrets')
    .option('--organization <name>', 'only this organization')
    .option('--json', 'print JSON')
    .addHelpText('after', WHERE)
    .action(list);
  command
    .command('revoke')
    .argument('<id>', 'as `keys list` shows it')
    .option('--json', 'print {id, revokedAt}')
    .description('revoke a key')
    .addHelpText('after', WHERE)
    .action(revoke);
  return command;
}

async function create({ json, ...request }: CreateOptions): Promise<void> {
  await withAdmin(async (admin) => {
    const { id, key, organization } = await admin.createKey(request);
    if (json) printJson({ id, key, organization });
    else printLines([key]);
    if (!json) process.stderr.write(`Key ${id} of ${organization}. It is shown only once: keep it secret.\n`);
  });
}

async function list({ organization, json }: { organization?: string; json?: boolean }): Promise<void> {
  await withAdmin(async (admin) => {
    await requireOrganization(admin, organization);
    const keys = await admin.listKeys({ organization });
    if (json) printJson(keys);
    else printTable(keys, COLUMNS, 'no keys: galley keys create makes one');
  });
}

const COLUMNS: Columns<KeyListing> = {
  Id: ({ id }) => id,
  Key: ({ prefix }) => `${prefix}…`,
  Organization: ({ organization }) => organization,
  Plan: ({ plan }) => plan,
  Used: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : ago(lastUsedAt)),
  State: ({ revokedAt }) => (revokedAt === null ? 'active' : `revoked ${ago(revokedAt)}`),
  '': ({ name, scope, project, createdAt, createdBy }) => {
    const limits = [scope === 'read' && 'may only read', project !== null && `only ${project}`];
    const created = `created ${ago(createdAt)}${createdBy === null ? '' : ` by ${createdBy}`}`;
    return [name, created, ...limits].filter(Boolean).join(', ');
  },
};

async function revoke(id: string, { json }: { json?: boolean }): Promise<void> {
  await withAdmin(async (admin) => {
    const { revokedAt } = await admin.revokeKey(id);
    if (json) printJson({ id, revokedAt });
    else printLines([`${id} is revoked: requests with it are rejected.`]);
  });
}
