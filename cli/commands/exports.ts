import { Command, Option } from 'commander';
import type { ExportJob } from '../../client/admin-api-client.ts';
import { type ExportChanges, type ExportJobStatus, exportJobStatus, jobWord } from '../../contract/admin-api.ts';
import { formatCount } from '../../ui/format.ts';
import { errorOf, howItEnded, KEY_HELP, showResponse } from '../admin-api.ts';
import { plain, printLines } from '../output.ts';
import { ago, type Columns, printTable } from '../table.ts';

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
  ofJob(command, 'show', 'show an export')
    .option('--follow', 'until it is completed or failed')
    .action((jobId: string, { follow, ...options }: Options & { follow?: boolean }) =>
      showResponse(options, {
        request: (client, request) => client.exports.get(jobId, request),
        print: (job) => printLines(inFull(job)),
        missing: missing(jobId),
        ...(follow && { follow: ENDS }),
      }),
    );
  ofJob(command, 'changes', 'show what an export changed since the one before').action(
    (jobId: string, options: Options) =>
      showResponse(options, {
        request: (client, request) => client.exports.changes(jobId, request),
        print: (changes) => printLines(describe(changes)),
        missing: missing(jobId),
      }),
  );
  ofJob(command, 'cancel', 'cancel a queued or running export').action((jobId: string, options: Options) =>
    showResponse(options, {
      request: (client, request) => client.exports.cancel(jobId, request),
      print({ result, job }) {
        const ended = `${jobId} was ${job === null ? 'already finished' : jobWord(job)}.`;
        printLines([result === 'accepted' ? `${jobId} is being canceled.` : ended]);
      },
      missing: missing(jobId),
    }),
  );
  return command;
}

function ofJob(exports: Command, name: string, description: string): Command {
  return exports
    .command(name)
    .argument('<job>', 'the id of the job, se_…')
    .option('--json', 'print the response as JSON')
    .description(description)
    .addHelpText('after', KEY_HELP);
}

function missing(jobId: string): string {
  return `no export job ${plain(jobId)}: galley exports list shows the newest`;
}

const ENDS = {
  isEnded: ({ status }: ExportJob) => status === 'completed' || status === 'failed',
  describe: (job: ExportJob) => inFull(job)[0] || job.jobId,
  failureOf: (job: ExportJob) => (job.status === 'failed' ? `The export ${job.jobId} ${howItEnded(job)}` : undefined),
};

async function list({ domain, status, limit, ...options }: ListOptions): Promise<void> {
  const filter = { domain, status, limit: Number(limit) };
  await showResponse(options, {
    request: (client, request) => client.exports.list(filter, request).page(),
    print({ jobs }) {
      const { Domain, ...others } = COLUMNS;
      const isOfOne = new Set(jobs.map((job) => job.domain)).size === 1;
      printTable(jobs, isOfOne ? others : COLUMNS, 'no exports');
    },
  });
}

/** The domain only if there are several. */
const COLUMNS = {
  Job: ({ jobId }) => jobId,
  Status: (job) => (job.status === 'running' ? `running, ${Math.floor(job.progress ?? 0)} %` : jobWord(job)),
  Pages: ({ pageCount }) => pageCount,
  Version: ({ version }) => version,
  Domain: ({ domain }) => domain,
  Started: ({ createdAt }) => ago(createdAt),
  '': errorOf,
} satisfies Columns<ExportJob>;

function inFull(job: ExportJob): (string | false | null)[] {
  const error = errorOf(job);
  return [
    `${job.jobId}: ${jobWord(job)}, ${Math.floor(job.progress ?? 0)} %, ${formatCount(job.pageCount ?? 0, 'page')}`,
    job.version !== null && `version ${job.version}${job.domain === null ? '' : ` of ${job.domain}`}`,
    job.createdAt !== null && `started ${ago(job.createdAt)}, last change ${ago(job.updatedAt ?? job.createdAt)}`,
    error !== null && `error: ${plain(error)}`,
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
