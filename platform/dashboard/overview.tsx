import type { Router } from 'express';
import type { ExportJobPage } from '../../contract/admin-api.ts';
import { formatDurationMs } from '../../contract/duration.ts';
import { DefinitionList } from '../../ui/components/definition-list.tsx';
import { EmptyState } from '../../ui/components/empty-state.tsx';
import { Message } from '../../ui/components/message.tsx';
import { Panel } from '../../ui/components/panel.tsx';
import { formatBytes, formatCount } from '../../ui/format.ts';
import { PROMPT_LIMIT } from '../api/agent/accept-prompt.ts';
import { listExports } from '../api/static-export/read-exports.ts';
import { START_LIMIT } from '../api/static-export/start-export.ts';
import { AGENT_LOGS_KEPT_MS } from '../retention/expire.ts';
import { describeKeep, type ExportKeep } from '../retention/export-keep.ts';
import { countExportsByHour, countPromptsByHour, type HourlyUse } from '../store/hourly-use.ts';
import { readStorageUse, type StorageUse } from '../store/storage-use.ts';
import { listTitledJobs, type TitledJob } from './agents/agent-facts.ts';
import { AgentTable } from './agents/agent-pages.tsx';
import type { DashboardContext } from './dashboard-context.ts';
import { messagesOf } from './done-messages.ts';
import { ExportTable } from './exports/export-pages.tsx';
import { MemberLayout, type MemberLayoutProps, PATHS } from './layout.tsx';
import { addPage } from './pages.tsx';
import { PLOT_HOURS, UsagePlot } from './usage-plot.tsx';

const SHOWN = 5;

/** The start page: what runs, what was done last, and the use of the limits. */
export function addOverviewRoutes(router: Router, context: DashboardContext): void {
  const { db, exportKeep } = context;
  addPage(router, {
    path: '/',
    async show(request, signed) {
      const { organizationId, plan } = signed.caller;
      const at = context.now();
      const since = { organizationId, at, hours: PLOT_HOURS };
      const [exports, jobs, exportUse, promptUse, storage] = await Promise.all([
        plan === 'enterprise' ? listExports(context, signed.caller, { limit: SHOWN }) : undefined,
        listTitledJobs(context, { organizationId, limit: SHOWN }),
        countExportsByHour(db, since),
        countPromptsByHour(db, since),
        readStorageUse(db, organizationId),
      ]);
      const use = { exports: exportUse, prompts: promptUse };
      const props = { exports, jobs, use, storage, exportKeep, now: at };
      return <OverviewPage signed={signed} messages={messagesOf(request)} {...props} />;
    },
  });
}

type OverviewProps = Pick<MemberLayoutProps, 'signed' | 'messages'> & {
  /** Undefined: the plan has no exports. */
  exports: ExportJobPage | undefined;
  jobs: readonly TitledJob[];
  use: { exports: HourlyUse; prompts: HourlyUse };
  storage: StorageUse;
  exportKeep: ExportKeep | undefined;
  now: Date;
};

function OverviewPage({ exports, jobs, use, storage, exportKeep, now, ...layout }: OverviewProps) {
  return (
    <MemberLayout {...layout} section="overview" title="Overview">
      <h1>Overview</h1>
      <div class="columns">
        <UsagePlot title="Exports per hour" use={use.exports} limit={START_LIMIT.uses} note="per organization" />
        <UsagePlot title="Prompts per hour" use={use.prompts} limit={PROMPT_LIMIT.uses} note="per project" />
      </div>
      <Panel title="Exports" aside={<a href={PATHS.exports}>All exports</a>}>
        {exports === undefined && <Message kind="info">Static export needs the Enterprise plan.</Message>}
        {exports?.jobs.length === 0 && <EmptyState title="No exports yet" />}
        {exports !== undefined && exports.jobs.length > 0 && <ExportTable jobs={exports.jobs} now={now} />}
      </Panel>
      <Panel title="Agent jobs" aside={<a href={PATHS.agents}>All agent jobs</a>}>
        {jobs.length === 0 ? <EmptyState title="No agent jobs yet" /> : <AgentTable rows={jobs} now={now} />}
      </Panel>
      <Panel title="Storage">
        <DefinitionList
          items={[
            {
              term: 'Bundles',
              value: `${formatCount(storage.bundles, 'bundle')}, ${formatBytes(storage.bundleBytes)}`,
            },
            { term: 'For the next exports', value: formatBytes(storage.crawlBytes) },
            { term: 'Kept exports', value: describeKeep(exportKeep) },
            {
              term: 'Logs of agent runs',
              value: `${formatCount(storage.logs, 'log')}, ${formatBytes(storage.logBytes)}`,
            },
            { term: 'Kept logs', value: `${formatDurationMs(AGENT_LOGS_KEPT_MS)} from the end of the run` },
          ]}
        />
      </Panel>
    </MemberLayout>
  );
}
