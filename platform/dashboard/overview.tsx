import type { Request, Router } from 'express';
import { FIGURE_DAYS } from '../../contract/site-figures.ts';
import { Badge } from '../../ui/components/badge.tsx';
import { DefinitionList } from '../../ui/components/definition-list.tsx';
import { EmptyState } from '../../ui/components/empty-state.tsx';
import { Live, LiveIndicator } from '../../ui/components/live.tsx';
import { None } from '../../ui/components/none.tsx';
import { Panel } from '../../ui/components/panel.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Text } from '../../ui/components/text.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { Title } from '../../ui/components/title.tsx';
import { formatBytes, formatCount, formatDuration } from '../../ui/format.ts';
import { PROMPT_LIMIT } from '../api/agent/accept-prompt.ts';
import { START_LIMIT } from '../api/static-export/start-export.ts';
import { firstLine } from '../first-line.ts';
import { AGENT_LOGS_KEPT_MS } from '../retention/expire.ts';
import type { ExportKeep } from '../retention/export-keep.ts';
import {
  type Activity,
  type Figures,
  listNeeds,
  type Need,
  type ProjectFigures,
  readActivity,
  readFigures,
} from '../store/overview-figures.ts';
import { readStorageUse, type StorageUse } from '../store/storage-use.ts';
import type { SignedMember } from './access.ts';
import type { DashboardContext } from './dashboard-context.ts';
import { DayPlot } from './day-plot.tsx';
import { messagesOf } from './done-messages.ts';
import { MemberLayout, OPEN_SITES, PATHS, pathOf } from './layout.tsx';
import { addLivePart } from './live.ts';
import { addPage, MAKERS } from './pages.tsx';

const LIVE_PATH = '/ui/overview/events';
/** Its figures cost more than a list, and change when a job ends. */
const EVERY_MS = 5_000;

/** The start page: what runs, what needs a person, how long jobs take and how often they fail. */
export function addOverviewRoutes(router: Router, context: DashboardContext): void {
  const { db, exportKeep } = context;
  const read = async ({ caller }: SignedMember): Promise<OverviewFacts> => {
    const at = context.now();
    const of = { organizationId: caller.organizationId, at };
    const [activity, needs, exports, agents, storage] = await Promise.all([
      readActivity(db, of),
      listNeeds(db, of),
      readFigures(db, 'exports', of),
      readFigures(db, 'runs', of),
      readStorageUse(db, of.organizationId),
    ]);
    return { activity, ...needs, exports, agents, storage, exportKeep, now: at };
  };
  addPage(router, {
    path: '/',
    async show(request, signed) {
      const facts = await read(signed);
      return (
        <MemberLayout signed={signed} messages={messagesOf(request)} section="overview" title="Overview">
          <Title title="Overview" beside={<LiveIndicator />} />
          <Live id="overview" url={LIVE_PATH}>
            <Overview signed={signed} {...facts} />
          </Live>
        </MemberLayout>
      );
    },
  });
  const show = async (_request: Request, signed: SignedMember) => (
    <Overview signed={signed} {...(await read(signed))} />
  );
  addLivePart(router, context, { path: LIVE_PATH, everyMs: EVERY_MS, show });
}

type OverviewFacts = {
  activity: Activity;
  needs: readonly Need[];
  total: number;
  exports: Figures;
  agents: Figures;
  storage: StorageUse;
  exportKeep: ExportKeep | undefined;
  now: Date;
};
type OverviewProps = OverviewFacts & { signed: SignedMember };

function Overview({ signed, activity, needs, total, exports, agents, storage, exportKeep, now }: OverviewProps) {
  return (
    <div class="stack">
      {!activity.hasJob && <FirstSteps signed={signed} activity={activity} />}
      {activity.hasJob && (
        <>
          <Now activity={activity} total={total} sites={signed.sites !== undefined} />
          {total > 0 && <Needs needs={needs} total={total} now={now} />}
          <div class="columns">
            <FiguresPanel label="Exports" failedLabel="Failed" href={PATHS.exports} figures={exports} now={now} />
            <FiguresPanel
              {...{ label: 'Agent runs', failedLabel: 'Not completed', href: PATHS.agents, figures: agents, now }}
            />
          </div>
        </>
      )}
      <Storage storage={storage} exportKeep={exportKeep} />
    </div>
  );
}

/** Instead of figures, which a new organization doesn't have. */
function FirstSteps({ signed, activity }: Pick<OverviewProps, 'signed' | 'activity'>) {
  const steps = [
    { done: activity.hasProject, text: 'Add a project for the domain of your site', href: PATHS.projects },
    { done: activity.hasKey, text: 'Create an API key, with which Galley calls this platform', href: PATHS.keys },
    signed.caller.plan === 'enterprise'
      ? { done: false, text: 'Start the first export', href: PATHS.exports }
      : { done: false, text: 'Prompt an agent for the first time', href: PATHS.agents },
  ];
  const next = steps.find(({ done }) => !done);
  const isMaker = MAKERS.includes(signed.membership.role);
  return (
    <Panel title="Next step" aside={isMaker ? undefined : <span class="soft small">for owners and developers</span>}>
      <ol class="steps">
        {steps.map((step) => (
          <li key={step.text}>
            {step === next && isMaker ? <a href={step.href}>{step.text}</a> : step.text}{' '}
            {step.done && <Badge tone="good" label="Done" />}
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function Now({ activity, total, sites }: { activity: Activity; total: number; sites: boolean }) {
  const { exports, agentJobs, startsInHour, promptsInHour } = activity;
  const running = [
    exports > 0 && <a href={PATHS.exports}>{formatCount(exports, 'export')}</a>,
    agentJobs > 0 && <a href={PATHS.agents}>{formatCount(agentJobs, 'agent job')}</a>,
  ].filter((each) => each !== false);
  return (
    <Panel title="Now">
      <DefinitionList
        items={[
          { term: 'Runs', value: running.length === 0 ? 'nothing' : running.map((each) => <div>{each}</div>) },
          { term: 'Needs a person', value: total === 0 ? 'nothing' : `${formatCount(total, 'job')}, listed below` },
          ...(sites ? [{ term: 'Not served yet, held', value: <a href={OPEN_SITES}>see the sites page</a> }] : []),
          { term: 'Exports started in the last hour', value: `${startsInHour} of ${START_LIMIT.uses}` },
          { term: 'Prompts in the last hour, per project', value: `${promptsInHour} of ${PROMPT_LIMIT.uses}` },
        ]}
      />
    </Panel>
  );
}

const NEEDS: Record<Need['kind'], { section: 'exports' | 'agents'; badge: Parameters<typeof Badge>[0] }> = {
  export: { section: 'exports', badge: { tone: 'bad', label: 'Export failed' } },
  agent: { section: 'agents', badge: { tone: 'bad', label: 'Agent job failed' } },
  change: { section: 'agents', badge: { tone: 'warn', label: 'Pull request open' } },
};

const SHOWN_DETAIL = 140;

function Needs({ needs, total, now }: Pick<OverviewProps, 'needs' | 'total' | 'now'>) {
  return (
    <Panel
      title="Needs a person"
      aside={total > needs.length && <span class="soft small">{`the newest ${needs.length} of ${total}`}</span>}
    >
      <Table
        caption="What needs a person"
        rows={needs}
        keyOf={({ jobId }) => jobId}
        columns={[
          {
            label: 'Project',
            kind: 'main',
            cell: ({ kind, jobId, domain }) => <a href={pathOf(NEEDS[kind].section, jobId)}>{domain}</a>,
          },
          { label: 'What', cell: ({ kind }) => <Badge {...NEEDS[kind].badge} /> },
          { label: 'About', cell: ({ detail }) => <Text>{firstLine(detail, SHOWN_DETAIL)}</Text> },
          { label: 'Since', cell: ({ at }) => <RelativeTime at={at} now={now} /> },
        ]}
      />
    </Panel>
  );
}

type FiguresProps = { label: string; failedLabel: string; href: string; figures: Figures; now: Date };

function FiguresPanel({ href, ...shown }: FiguresProps) {
  const { label, failedLabel, figures } = shown;
  const took = (ms: number | null) => (ms === null ? <None /> : formatDuration(ms));
  return (
    <Panel title={`${label} of ${FIGURE_DAYS} days`} aside={<a href={href}>All of them</a>}>
      {figures.projects.length === 0 ? (
        <EmptyState title={`No ${label.toLowerCase()} ended in these days`} />
      ) : (
        <>
          <DayPlot {...shown} />
          <Table<ProjectFigures>
            caption={`${label} by project, with the time from request to end`}
            rows={figures.projects}
            keyOf={({ projectId }) => projectId}
            columns={[
              {
                label: 'Project',
                kind: 'main',
                cell: ({ projectId, domain }) => <a href={pathOf('projects', projectId)}>{domain}</a>,
              },
              {
                label: failedLabel,
                kind: 'number',
                cell: ({ completed, failed }) => `${failed} of ${completed + failed}`,
              },
              { label: 'Median time', kind: 'number', cell: ({ medianMs }) => took(medianMs) },
              { label: '95 % within', kind: 'number', cell: ({ p95Ms }) => took(p95Ms) },
            ]}
          />
        </>
      )}
    </Panel>
  );
}

function keptExports(keep: ExportKeep | undefined): string {
  if (keep === undefined) return 'all';
  const within = formatDuration(keep.linkedWithinMs);
  return `the newest ${keep.newest} of each project, and those whose link was requested within ${within}`;
}

function Storage({ storage, exportKeep }: Pick<OverviewProps, 'storage' | 'exportKeep'>) {
  const { bundles, bundleBytes, crawlBytes, logs, logBytes } = storage;
  return (
    <Panel title="Storage">
      <DefinitionList
        items={[
          { term: 'Bundles', value: `${formatCount(bundles, 'bundle')}, ${formatBytes(bundleBytes)}` },
          { term: 'For the next exports', value: formatBytes(crawlBytes) },
          { term: 'Kept exports', value: keptExports(exportKeep) },
          { term: 'Logs of agent runs', value: `${formatCount(logs, 'log')}, ${formatBytes(logBytes)}` },
          { term: 'Kept logs', value: `${formatDuration(AGENT_LOGS_KEPT_MS)} from the end of the run` },
        ]}
      />
    </Panel>
  );
}
