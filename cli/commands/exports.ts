import { Command, Option } from 'commander';
import {
  type ExportChanges,
  type ExportJob,
  exportCancellation,
  exportChanges,
  exportJob,
  exportJobPage,
  exportJobStatus,
} from '../../contract/admin-api.ts';
import { KEY_HELP, openAdminApi } from '../admin-api.ts';
import { plain, printJson, printLines, printRows } from '../output.ts';

const JOBS = '/v1/static-export/jobs';

/** `--json` shows all. */
const MAX_PATHS = 20;

type Options = { json?: boolean };
type ListOptions = Options & { domain?: string; status?: string; limit: string };

export function exportsCommand(): Command {
  const command = new Command('exports').description('the export jobs of the Admin API');
  command
    .command('list')
    .option('--domain <domain>', 'only of this domain')
    .addOption(new Option('--status <status>', 'only in this state').choices(exportJobStatus.options))
    .option('--limit <n>', 'how many, 1 to 100', '20')
    .option('--json', 'print the response as JSON')
    .description('list the newest exports')
    .addHelpText('after', KEY_HELP)
    .action(list);
  command
    .command('show')
    .argument('<job>', 'the id of the job, se_…')
    .option('--json', 'print the job as JSON')
    .description('show an export')
    .addHelpText('after', KEY_HELP)
    .action(async (jobId: string, { json }: Options) => {
      const job = exportJob.loose().parse(await (await openAdminApi())(pathOf(jobId)));
      if (json) printJson(job);
      else printLines(inFull(job));
    });
  command
    .command('changes')
    .argument('<job>', 'the id of a completed job, se_…')
    .option('--json', 'print all changes as JSON')
    .description('show what an export changed since the one before')
    .addHelpText('after', KEY_HELP)
    .action(async (jobId: string, { json }: Options) => {
      const changes = exportChanges.loose().parse(await (await openAdminApi())(`${pathOf(jobId)}/changes`));
      if (json) printJson(changes);
      else printLines(describe(changes));
    });
  command
    .command('cancel')
    .argument('<job>', 'the id of the job, se_…')
    .option('--json', 'print the result as JSON')
    .description('cancel a queued or running export')
    .addHelpText('after', KEY_HELP)
    .action(async (jobId: string, { json }: Options) => {
      const response = await (await openAdminApi())(`${pathOf(jobId)}/cancel`, 'POST');
      const { result, job } = exportCancellation.loose().parse(response);
      if (json) printJson({ result, job });
      else printLines([result === 'accepted' ? `${job.jobId} is being cancelled.` : `${job.jobId} was ${job.status}.`]);
    });
  return command;
}

async function list({ domain, status, limit, json }: ListOptions): Promise<void> {
  const query = new URLSearchParams({ ...(domain && { domain }), ...(status && { status }), limit });
  const page = exportJobPage.loose().parse(await (await openAdminApi())(`${JOBS}?${query}`));
  if (json) printJson(page);
  else if (page.jobs.length === 0) printLines(['no exports']);
  else printRows(page.jobs.map(columns));
}

function pathOf(jobId: string): string {
  return `${JOBS}/${encodeURIComponent(jobId)}`;
}

function columns({ jobId, status, progress, pageCount, version, domain, createdAt, error }: ExportJob): string[] {
  const state = status === 'running' ? `running, ${Math.floor(progress)} %` : status;
  return [jobId, state, `${pageCount} pages`, version, domain, createdAt, error === null ? '' : plain(error)];
}

function inFull(job: ExportJob): (string | false)[] {
  return [
    `${job.jobId}: ${job.status}, ${Math.floor(job.progress)} %, ${job.pageCount} pages`,
    `version ${job.version} of ${job.domain}`,
    `created ${job.createdAt}, last change ${job.updatedAt}`,
    job.error !== null && `error: ${plain(job.error)}`,
  ];
}

function describe({ since, added, changed, removed, newlyBroken }: ExportChanges): string[] {
  const counts = [`${added.length} added`, `${changed.length} changed`, `${removed.length} removed`].join(', ');
  const head = since === null ? `The first export: ${added.length} files` : `Since ${since}: ${counts}`;
  const marked = [
    ...(since === null ? [] : added.map((path) => `+ ${plain(path)}`)),
    ...changed.map((path) => `~ ${plain(path)}`),
    ...removed.map((path) => `- ${plain(path)}`),
  ];
  const more = marked.length - MAX_PATHS;
  return [
    head,
    ...marked.slice(0, MAX_PATHS),
    ...(more > 0 ? [`  and ${more} more: --json lists all`] : []),
    ...newlyBroken.slice(0, MAX_PATHS).map(({ link, referrer }) => `broken: ${plain(link)} on ${plain(referrer)}`),
    ...(newlyBroken.length > MAX_PATHS ? [`  and ${newlyBroken.length - MAX_PATHS} more broken links`] : []),
  ];
}
