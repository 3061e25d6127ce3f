import { Command, InvalidArgumentError, Option } from 'commander';
import { CONTENT_CODINGS, type ContentCoding } from '../../contract/content-coding.ts';
import { proofPages } from '../../contract/proof.ts';
import type { Admin } from '../../platform/admin/admin.ts';
import type {
  AddProjectRequest,
  ProjectListing,
  ProjectWithContents,
  SetProjectRequest,
} from '../../platform/admin/project-requests.ts';
import { formatBytes, formatCount } from '../../ui/format.ts';
import { requireOrganization, withAdmin } from '../admin/with-admin.ts';
import { UsageError } from '../command-error.ts';
import { confirmDeletion } from '../confirm-deletion.ts';
import { printJson, wrap } from '../output.ts';
import { readSecret } from '../projects/read-secret.ts';
import { parseRepository } from '../projects/repository-url.ts';
import { type Columns, printTable } from '../table.ts';

const WHERE =
  '\nWorks beside a running service: on DATABASE_URL, or on the embedded database of GALLEY_HOME through the running `up`.';

interface Options {
  organization?: string;
  project: string;
  domain?: string;
  origin?: string;
  repository?: string;
  ref?: string;
  external?: string[];
  scripts?: 'auto' | 'keep' | 'strip';
  sourceMaps?: 'omit' | 'keep';
  robots?: 'respect' | 'ignore';
  render?: 'http' | 'browser';
  discover?: 'http' | 'browser';
  incremental?: 'true' | 'false';
  basePath?: string;
  precompress?: Array<ContentCoding | 'none'>;
  agentPaths?: string[];
  search?: 'off' | 'pagefind';
  markdown?: 'keep' | 'on';
  prove?: number;
  webhook?: string;
  webhookSecret?: string;
  json?: boolean;
}

export function projectsCommand(): Command {
  const command = new Command('projects').description('projects of the Admin API: what is exported, and how');
  const add = command
    .command('add')
    .description('add a project to an organization')
    .requiredOption('--organization <name>', 'the organization that owns the project')
    .requiredOption('--project <id>', 'its id, prj_…')
    .requiredOption('--domain <domain>', 'the domain it is published under');
  withSettings(add).action(async ({ json, organization, domain, ...options }: Options) => {
    if (organization === undefined || domain === undefined)
      throw new UsageError('--organization and --domain are needed');
    const request: AddProjectRequest = { ...(await changes(options)), project: options.project, organization, domain };
    await withAdmin(async (admin) => print(await admin.addProject(request), json));
  });
  const set = command
    .command('set')
    .description('change the given settings of a project; an empty value clears one')
    .requiredOption('--project <id>', 'its id, prj_…')
    .option('--organization <name>', 'only if it belongs to this organization')
    .option('--domain <domain>', 'the domain it is published under');
  withSettings(set).action(async ({ json, organization, domain, ...options }: Options) => {
    const request: SetProjectRequest = {
      ...(await changes(options)),
      project: options.project,
      ...(organization === undefined ? {} : { organization }),
      ...(domain === undefined ? {} : { domain }),
    };
    await withAdmin(async (admin) => print(await admin.setProject(request), json));
  });
  command
    .command('list')
    .description('list the projects')
    .option('--organization <name>', 'only this organization')
    .option('--json', 'print JSON')
    .addHelpText('after', WHERE)
    .action(async ({ organization, json }: { organization?: string; json?: boolean }) => {
      await withAdmin(async (admin) => {
        await requireOrganization(admin, organization);
        const projects = await admin.listProjects({ organization });
        if (json) printJson(projects);
        else printTable(projects, COLUMNS, 'no projects: galley projects add makes one');
      });
    });
  command
    .command('sync')
    .option('--json', 'print {key, organization, projects} as JSON')
    .description('make the projects of the sites in galley.yaml, and let ADMIN_API_KEY in')
    .addHelpText(
      'after',
      `\nFor processes without \`up\`, which does the same. What is there stays. A key of \`init --compose\` is taken over.\n${WHERE}`,
    )
    .action(async (options: { json?: boolean }) => {
      const { syncProjects } = await import('../projects/sync-projects.ts');
      await syncProjects(options);
    });
  addMoveAndRemove(command);
  return command;
}

function addMoveAndRemove(command: Command): void {
  command
    .command('move')
    .argument('<id>', 'as `projects list` shows it')
    .requiredOption('--organization <name>', 'the organization that gets it')
    .option('--json', 'print the project as JSON')
    .description('move a project with its exports and agent jobs to another organization')
    .addHelpText('after', `\nKeys for this project alone end: they are the old organization's.\n${WHERE}`)
    .action(async (id: string, { organization, json }: { organization: string; json?: boolean }) => {
      await withAdmin(async (admin) => print(await admin.moveProject(id, { organization }), json));
    });
  command
    .command('remove')
    .argument('<id>', 'as `projects list` shows it')
    .option('--yes', 'delete its exports and agent jobs without asking')
    .option('--json', 'print the removed project as JSON')
    .description('remove a project with its exports, bundles and agent jobs')
    .addHelpText(
      'after',
      `\nLinks to its bundles stop working. Pull requests and deployed sites stay. If galley.yaml still names the\nsite, the next \`up\` makes its project again.\n${WHERE}`,
    )
    .action(async (id: string, options: { yes?: boolean; json?: boolean }) => {
      await withAdmin((admin) => removeProject(admin, id, options));
    });
}

async function removeProject(
  admin: Admin,
  id: string,
  { yes, json }: { yes?: boolean; json?: boolean },
): Promise<void> {
  const { contents, domain, organization } = await admin.showProject(id);
  const isEmpty = contents.exports + contents.agentJobs === 0;
  const isRunning = contents.runningExports.length + contents.runningAgentJobs.length > 0;
  if (!isEmpty && !isRunning) {
    const what = `${id} (${domain} of ${organization}): removing it deletes ${describeContents(contents)}`;
    const question = `${what}. Links to its bundles stop working. This can't be undone`;
    await confirmDeletion({ question, name: id, yes, json });
  }
  const removed = await admin.removeProject(id, { withContents: !isEmpty });
  if (json) printJson(removed);
  else {
    const what = isEmpty ? '' : `, with ${describeContents(removed.contents)}`;
    process.stdout.write(`${wrap(`${id} was removed${what}.`)}\n`);
  }
}

function describeContents({ exports, bundles, bundleBytes, agentJobs }: ProjectWithContents['contents']): string {
  const parts = [
    exports > 0 && formatCount(exports, 'export'),
    bundles > 0 && `${formatCount(bundles, 'bundle')} (${formatBytes(bundleBytes)})`,
    agentJobs > 0 && `${formatCount(agentJobs, 'agent job')} with logs`,
    'what is kept for the next export',
  ];
  return new Intl.ListFormat('en-US').format(parts.filter((each) => each !== false));
}

function withSettings(command: Command): Command {
  return command
    .option('--origin <url>', 'export from here instead of the domain: scheme, host and port, loopback included')
    .option('--repository <url>', 'the URL of its sources: https, ssh or file, or a folder of this machine')
    .option('--ref <branch>', "the branch that agents start from (default: the repository's)")
    .option('--external <policy...>', 'assets of other hosts: bundle, keep, or the hosts to keep as links')
    .addOption(new Option('--scripts <policy>', 'scripts of the pages').choices(['auto', 'keep', 'strip']))
    .addOption(new Option('--source-maps <policy>', 'source maps of scripts and styles').choices(['omit', 'keep']))
    .addOption(new Option('--robots <policy>', 'robots.txt and nofollow').choices(['respect', 'ignore']))
    .addOption(
      new Option('--render <how>', 'pages as the origin sends them, or as a browser shows them').choices([
        'http',
        'browser',
      ]),
    )
    .addOption(
      new Option('--discover <how>', 'files that scripts load: by reading them, or also by visiting pages').choices([
        'http',
        'browser',
      ]),
    )
    .addOption(
      new Option('--incremental <choice>', "whether exports reuse what hasn't changed since the last one").choices([
        'true',
        'false',
      ]),
    )
    .addOption(
      new Option('--precompress <codings...>', 'text files also as .br, .gz or .zst siblings; none: without').choices([
        ...CONTENT_CODINGS,
        'none',
      ]),
    )
    .option('--base-path <path>', 'where exports are mounted below the domain, such as /docs; empty: at its root')
    .addOption(
      new Option(
        '--search <how>',
        'search in the bundle: an index made at export, unless the site has its own',
      ).choices(['off', 'pagefind']),
    )
    .option(
      '--agent-paths <globs...>',
      "files that an agent may change, such as 'docs/**'; empty: all but CI files and executables",
    )
    .addOption(
      new Option('--markdown <policy>', 'pages in Markdown: those of the origin, or also made ones').choices([
        'keep',
        'on',
      ]),
    )
    .option(
      '--prove <pages>',
      'compare this many pages of each export with the origin in a browser; 0: none',
      provePages,
    )
    .option('--webhook <url>', "receives the embedded forge's pull request events: …/webhooks/SITE/github")
    .option('--webhook-secret <secret>', 'the secret that signs those deliveries; - reads it from standard input')
    .option('--json', 'print the project as JSON')
    .addHelpText('after', WHERE);
}

/** An empty text clears the setting. */
function provePages(text: string): number {
  const pages = proofPages.safeParse(/^\d*$/.test(text) ? Number(text) : Number.NaN);
  if (pages.success) return pages.data;
  throw new InvalidArgumentError(pages.error.issues[0]?.message ?? '');
}

/** The options that were given; an empty text clears a setting. */
async function changes(options: Options): Promise<Omit<SetProjectRequest, 'project' | 'organization' | 'domain'>> {
  const { origin, repository, ref, external, scripts, sourceMaps, robots, render, discover, incremental } = options;
  const { basePath, precompress, search, markdown, prove, agentPaths, webhook, webhookSecret } = options;
  const text = (value: string): string | null => (value === '' ? null : value);
  const settings = {
    ...(external === undefined ? {} : { external: externalPolicy(external) }),
    ...(scripts === undefined ? {} : { scripts }),
    ...(sourceMaps === undefined ? {} : { sourceMaps }),
    ...(robots === undefined ? {} : { robots }),
    ...(render === undefined ? {} : { render }),
    ...(discover === undefined ? {} : { discover }),
    ...(incremental === undefined ? {} : { incremental: incremental === 'true' }),
    ...(basePath === undefined ? {} : { basePath: basePath.replace(/\/$/, '') }),
    ...(precompress === undefined ? {} : { precompress: precompress.flatMap((each) => (each === 'none' ? [] : each)) }),
    ...(search === undefined ? {} : { search }),
    ...(markdown === undefined ? {} : { markdown }),
    ...(agentPaths === undefined ? {} : { agentPaths: agentPaths.join('') === '' ? null : agentPaths }),
    ...(prove === undefined ? {} : { prove }),
    ...(webhook === undefined ? {} : { webhookUrl: text(webhook) }),
    ...(webhookSecret === undefined
      ? {}
      : { webhookSecret: text(await readSecret('--webhook-secret', webhookSecret, process.stdin)) }),
  };
  return {
    ...(origin === undefined ? {} : { origin: text(origin) }),
    ...(repository === undefined ? {} : { repository: repository === '' ? null : await checkedUrl(repository) }),
    ...(ref === undefined ? {} : { ref: text(ref) }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  };
}

async function checkedUrl(given: string): Promise<string> {
  const { url, warning } = await parseRepository(given);
  if (warning !== undefined) process.stderr.write(`${warning}\n`);
  return url;
}

function externalPolicy(given: string[]): 'bundle' | 'keep' | string[] {
  const [only] = given;
  return given.length === 1 && (only === 'bundle' || only === 'keep') ? only : given;
}

const COLUMNS: Columns<ProjectListing> = {
  Project: ({ project }) => project,
  Organization: ({ organization }) => organization,
  Domain: ({ domain }) => domain,
  '': ({ origin, repository, ref, settings: { webhookUrl, webhookSecretSet } }) => {
    const facts = [
      origin && `origin ${origin}`,
      repository && `repository ${repository}`,
      ref && `branch ${ref}`,
      webhookUrl && `webhook ${webhookUrl} (${webhookSecretSet ? 'signed' : 'without a secret'})`,
    ];
    return facts.filter(Boolean).join(', ');
  },
};

function print(project: ProjectListing, json: boolean | undefined): void {
  if (json) printJson(project);
  else printTable([project], COLUMNS, '');
}
