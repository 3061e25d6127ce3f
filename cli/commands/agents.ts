import { Command } from 'commander';
import type { z } from 'zod';
import type {
  AdminApiClient,
  AgentJob,
  AgentJobRef,
  Cancellation,
  RequestOptions,
} from '../../client/admin-api-client.ts';
import { jobWord } from '../../contract/admin-api.ts';
import { agentRuleState } from '../../contract/agent-state.ts';
import { errorOf, howItEnded, KEY_HELP, showResponse } from '../admin-api.ts';
import { API_URL_OPTION, openOrchestrator, sitePath, TOKEN_HELP } from '../orchestrator-client.ts';
import { plain, printJson, printLines } from '../output.ts';
import { SITE_ARGUMENT, siteFirst } from '../sites/configured-sites.ts';
import { ago, type Columns, printTable } from '../table.ts';

/** Parsed loosely, because an api of another release may send more or fewer fields. */
const ended = agentRuleState.partial().loose();

type Options = { project?: string; json?: boolean };

export function agentsCommand(): Command {
  const command = new Command('agents').description(
    'the agent jobs of the Admin API, and the agent rules of a running api',
  );
  ofProject(command.command('list'))
    .option('--limit <n>', 'how many, 1 to 100', '20')
    .description("list a project's newest agent jobs")
    .action(list);
  ofJob(command.command('show'), 'show an agent job', (client, job, request) =>
    client.agentJobs.get(job, request),
  ).option('--follow', 'until its agent has ended');
  ofProject(command.command('message'))
    .argument('<job>', 'the id of the job, aj_…')
    .argument('<prompt>', 'what the agent should do next')
    .description('send a follow-up prompt to a completed job, which becomes active again')
    .action(async (id: string, prompt: string, options: Options) => {
      const job = await refOf(options, id);
      await showResponse(options, {
        request: (client, request) => client.agentJobs.message({ ...job, prompt }, request),
        print: printJob,
        missing: missing(job),
      });
    });
  ofProject(command.command('cancel'))
    .argument('<job>', 'the id of the job, aj_…')
    .description('cancel an active job')
    .action(async (id: string, options: Options) => {
      const job = await refOf(options, id);
      await showResponse(options, {
        request: (client, request) => client.agentJobs.cancel(job, request),
        print: (cancellation) => printCancellation(id, cancellation),
        missing: missing(job),
      });
    });
  ofJob(command.command('archive'), 'archive a job: it takes no more prompts', (client, job, request) =>
    client.agentJobs.archive(job, request),
  );
  command
    .command('remove')
    .argument(...SITE_ARGUMENT)
    .argument('[rule]', 'the name of the rule')
    .option('--json', 'print what was removed as JSON')
    .option(...API_URL_OPTION)
    .description('end an agent rule and report what ended')
    .addHelpText(
      'after',
      `\nChanges that the rule started continue. Take the rule out of galley.yaml first: the next publish starts it again.\n${TOKEN_HELP}`,
    )
    .action(async (...args: [string | undefined, string | undefined, { json?: boolean; url?: string }]) => {
      const [given, named, options] = args;
      const [site, rule = ''] = siteFirst([given, named], ['RULE']);
      const { ask } = await openOrchestrator(options);
      const response = await ask(sitePath(site, 'agents', rule), 'DELETE');
      if (options.json) printJson(response);
      else printLines(whatEnded(site, rule, ended.parse(response)));
    });
  return command;
}

async function list({ project, limit, ...options }: Options & { limit: string }): Promise<void> {
  const filter = { projectId: project ?? (await projectOfSites()), limit: Number(limit) };
  await showResponse(options, {
    request: (client, request) => client.agentJobs.list(filter, request).page(),
    print: ({ jobs }) => printTable(jobs, COLUMNS, 'no agent jobs'),
    missing: `no project ${plain(filter.projectId)}: galley projects list shows them`,
  });
}

const COLUMNS: Columns<AgentJob> = {
  Job: ({ id }) => id,
  Status: jobWord,
  Started: ({ createdAt }) => ago(createdAt),
  '': (job) => job.prLink ?? errorOf(job),
};

const ENDS = {
  isEnded: ({ status }: AgentJob) => status !== 'active',
  describe: (job: AgentJob) => `${job.id}: ${jobWord(job)}`,
  failureOf: (job: AgentJob) => (job.status === 'failed' ? `The agent job ${job.id} ${howItEnded(job)}` : undefined),
};

function missing({ projectId, id }: AgentJobRef): string {
  return `no agent job ${plain(id)} in the project ${plain(projectId)}: galley agents list shows the newest`;
}

function ofProject(command: Command): Command {
  return command
    .option('--project <id>', 'the project of the agent jobs, prj_… (default: the one in galley.yaml)')
    .option('--json', 'print the response as JSON')
    .addHelpText('after', KEY_HELP);
}

type AskForJob = (client: AdminApiClient, job: AgentJobRef, request: RequestOptions) => Promise<AgentJob>;

/** A command that shows the job which the service responds with. */
function ofJob(command: Command, description: string, ask: AskForJob): Command {
  return ofProject(command)
    .argument('<job>', 'the id of the job, aj_…')
    .description(description)
    .action(async (id: string, { follow, ...options }: Options & { follow?: boolean }) => {
      const job = await refOf(options, id);
      await showResponse(options, {
        request: (client, request) => ask(client, job, request),
        print: printJob,
        missing: missing(job),
        ...(follow && { follow: ENDS }),
      });
    });
}

async function refOf({ project }: Options, id: string): Promise<AgentJobRef> {
  return { projectId: project ?? (await projectOfSites()), id };
}

function printJob(job: AgentJob): void {
  const { id, source, prLink, createdAt, updatedAt } = job;
  const error = errorOf(job);
  printLines([
    `${id}: ${jobWord(job)}`,
    source.repository && `repository ${source.repository}${source.ref === null ? '' : `, branch ${source.ref}`}`,
    prLink && `pull request ${prLink}`,
    createdAt && `started ${ago(createdAt)}, last change ${ago(updatedAt ?? createdAt)}`,
    error && `error: ${plain(error)}`,
  ]);
}

function printCancellation(id: string, { result, job }: Cancellation<AgentJob>): void {
  const ended = `${id} was ${job === null ? 'already finished' : jobWord(job)}.`;
  printLines([result === 'accepted' ? `${id} is being canceled.` : ended]);
}

function whatEnded(site: string, rule: string, state: z.infer<typeof ended>): (string | false)[] {
  const waiting = state.pendingCount ?? 0;
  return [
    `The rule ${rule} of ${site} was removed and no longer prompts an agent.`,
    waiting > 0 && `${waiting} waiting event(s) were dropped.`,
    (state.changes?.length ?? 0) > 0 && 'Changes that it started continue until their pull requests end.',
    'If galley.yaml still names the rule, the next publish starts it again.',
  ];
}

async function projectOfSites(): Promise<string> {
  const { onlyProject } = await import('../projects/only-project.ts');
  return await onlyProject();
}
