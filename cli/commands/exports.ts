import { Command, Option } from 'commander';
import type { ExportJob } from '../../client/admin-api-client.ts';
import { type ExportChanges, type ExportJobStatus, exportJobStatus } from '../../contract/admin-api.ts';
import { KEY_HELP, showResponse } from '../admin-api.ts';
import { plain, printLines, printRows } from '../output.ts';

/** `--json` shows all. */
const MAX_PATHS = 20;

type Options = { json?: boolean };
type ListOptions = Options & { domain?: string; status?: ExportJobStatus; limit: string };

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
    .action((jobId: string, options: Options) =>
      showResponse(
        options,
        (client, request) => client.exports.get(jobId, request),
        (job) => printLines(inFull(job)),
      ),
    );
  command
    .command('changes')
    .argument('<job>', 'the id of a completed job, se_…')
    .option('--json', 'print all changes as JSON')
    .description('show what an export changed since the one before')
    .addHelpText('after', KEY_HELP)
    .action((jobId: string, options: Options) =>
      showResponse(
        options,
        (client, request) => client.exports.changes(jobId, request),
        (changes) => printLines(describe(changes)),
      ),
    );
  command
    .command('cancel')
    .argument('<job>', 'the id of the job, se_…')
    .option('--json', 'print the result as JSON')
    .description('cancel a queued or running export')
    .addHelpText('after', KEY_HELP)
    .action((jobId: string, options: Options) =>
      showResponse(
        options,
        (client, request) => client.exports.cancel(jobId, request),
        ({ result, job }) => {
          const ended = `${jobId} was ${job?.status ?? 'already finished'}.`;
          printLines([result === 'accepted' ? `${jobId} is being cancelled.` : ended]);
        },
      ),
    );
  return command;
}

async function list({ domain, status, limit, ...options }: ListOptions): Promise<void> {
  const filter = { domain, status, limit: Number(limit) };
  await showResponse(
    options,
    (client, request) => client.exports.list(filter, request).page(),
    ({ jobs }) => (jobs.length === 0 ? printLines(['no exports']) : printRows(jobs.map(columns))),
  );
}

function columns({ jobId, status, progress, pageCount, version, domain, createdAt, error }: ExportJob) {
  const state = status === 'running' ? `running, ${Math.floor(progress ?? 0)} %` : status;
  return [jobId, state, `${pageCount ?? 0} pages`, version, domain, createdAt, error === null ? '' : plain(error)];
}

function inFull(job: ExportJob): (string | false | null)[] {
  return [
    `${job.jobId}: ${job.status}, ${Math.floor(job.progress ?? 0)} %, ${job.pageCount ?? 0} pages`,
    job.version !== null && `version ${job.version}${job.domain === null ? '' : ` of ${job.domain}`}`,
    job.createdAt !== null && `created ${job.createdAt}, last change ${job.updatedAt ?? job.createdAt}`,
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
