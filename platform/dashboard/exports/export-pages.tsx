import {
  type Bundle,
  type ExportChanges,
  type ExportJob,
  type ExportJobPage,
  type ExportReport,
  exportJobStatus,
  jobWord,
} from '../../../contract/admin-api.ts';
import { Badge } from '../../../ui/components/badge.tsx';
import { CopyField } from '../../../ui/components/code.tsx';
import { DefinitionList } from '../../../ui/components/definition-list.tsx';
import { TextDiff } from '../../../ui/components/diff.tsx';
import { EmptyState } from '../../../ui/components/empty-state.tsx';
import { ActionButton, Button, ButtonLink, Field, Form, Select } from '../../../ui/components/form.tsx';
import { Live, LiveIndicator } from '../../../ui/components/live.tsx';
import { Message } from '../../../ui/components/message.tsx';
import { None } from '../../../ui/components/none.tsx';
import { Pager } from '../../../ui/components/pager.tsx';
import { Panel } from '../../../ui/components/panel.tsx';
import { StageList } from '../../../ui/components/stage-list.tsx';
import { Table } from '../../../ui/components/table.tsx';
import { Text } from '../../../ui/components/text.tsx';
import { Duration, RelativeTime, Time } from '../../../ui/components/time.tsx';
import { Title } from '../../../ui/components/title.tsx';
import { formatBytes, formatCount, formatDuration } from '../../../ui/format.ts';
import { listPath } from '../../../web/list-path.ts';
import type { Actor } from '../../store/audit-log.ts';
import type { ExportJobRow } from '../../store/export-jobs.ts';
import type { Project } from '../../store/projects.ts';
import type { SignedMember } from '../access.ts';
import { MemberLayout, type MemberLayoutProps, PATHS, pathOf, pathThere, WorkflowLink } from '../layout.tsx';
import { badgeOf, statusOptions } from '../statuses.ts';
import { ChangesPanel, ReportPanel } from './export-results.tsx';
import { paceOf, type StageRow, stagesOf } from './progress.ts';

type Shared = Pick<MemberLayoutProps, 'signed' | 'messages'>;

export type ExportFacts = {
  job: ExportJobRow;
  /** Null if that isn't recorded any more. */
  startedBy: Pick<Actor, 'kind' | 'name'> | null;
  /** The phase of the job's crawl; null if none is stored. */
  phase: 'crawling' | 'frozen' | null;
  urls: { settled: number; all: number } | null;
  report: ExportReport | null;
  changes: ExportChanges | null;
  bundle: Bundle | null;
  /** URLs, as far as known. */
  servedAt: readonly string[];
  now: Date;
};

type ListProps = {
  list: ExportJobPage;
  query: { domain: string; status: string };
  /** Empty on the first page. */
  cursor: string;
  now: Date;
};

type ListPageProps = Shared & { shown: ListProps; projects: readonly Project[] };

const ANY = { value: '', label: 'Any' };

export function ExportsPage({ shown, projects, ...layout }: ListPageProps) {
  const { signed } = layout;
  const { query, cursor } = shown;
  const domains = projects.map(({ domain }) => ({ value: domain, label: domain }));
  return (
    <MemberLayout {...layout} section="exports" title="Exports">
      <Title title="Exports" beside={<LiveIndicator />}>
        <search>
          <Form action={PATHS.exports} inline>
            <Select label="Domain" name="domain" value={query.domain} options={[ANY, ...domains]} />
            <Select
              label="Status"
              name="status"
              value={query.status}
              options={statusOptions(exportJobStatus.options)}
            />
            <Button icon="search">Filter</Button>
          </Form>
        </search>
      </Title>
      <Live id="exports" url={listPath(`${PATHS.exports}/events`, { ...query, cursor })}>
        <ExportList {...shown} />
      </Live>
      {signed.membership.role !== 'reviewer' && domains.length > 0 && (
        <Panel title="Start an export">
          <Form action={PATHS.exports} csrf={signed.csrf} inline>
            <Select label="Domain" name="domain" value={query.domain} options={domains} />
            <Field label="Version (empty: the next free one)" name="version" maxLength={64} />
            <Button variant="primary" icon="upload">
              Start
            </Button>
          </Form>
        </Panel>
      )}
    </MemberLayout>
  );
}

export function ExportList({ list, query, cursor, now }: ListProps) {
  const href = (to: string) => listPath(PATHS.exports, { ...query, cursor: to });
  return (
    <>
      <Panel>
        {list.jobs.length === 0 ? <EmptyState title="No exports here" /> : <ExportTable jobs={list.jobs} now={now} />}
      </Panel>
      {(list.nextCursor !== null || cursor !== '') && (
        <Pager
          summary={formatCount(list.jobs.length, 'export')}
          firstHref={cursor === '' ? undefined : href('')}
          nextHref={list.nextCursor === null ? undefined : href(list.nextCursor)}
        />
      )}
    </>
  );
}

export function ExportTable({ jobs, now }: { jobs: readonly ExportJob[]; now: Date }) {
  return (
    <Table
      caption="Exports"
      rows={jobs}
      keyOf={({ jobId }) => jobId}
      columns={[
        {
          label: 'Domain',
          kind: 'main',
          cell: ({ jobId, domain }) => (
            <>
              <a href={pathOf('exports', jobId)}>{domain}</a>
              <div class="soft small">
                <code>{jobId}</code>
              </div>
            </>
          ),
        },
        { label: 'Status', cell: (job) => <Badge {...badgeOf(job)} /> },
        { label: 'Progress', kind: 'number', cell: ({ progress }) => `${Math.floor(progress)} %` },
        { label: 'Pages', kind: 'number', cell: ({ pageCount }) => pageCount.toLocaleString('en-US') },
        { label: 'Version', cell: ({ version }) => <span class="mono">{version}</span> },
        { label: 'Created', cell: ({ createdAt }) => <RelativeTime at={createdAt} now={now} /> },
      ]}
    />
  );
}

export function ExportPage({ facts, ...layout }: Shared & { facts: ExportFacts }) {
  const { id, domain, status } = facts.job;
  const parts = <ExportParts signed={layout.signed} facts={facts} />;
  const isOver = status === 'completed' || status === 'failed';
  return (
    <MemberLayout {...layout} section="exports" title={domain} crumbs={[{ label: 'Exports', href: PATHS.exports }]}>
      {isOver ? (
        parts
      ) : (
        <Live id="export" url={pathOf('exports', id, 'events')}>
          {parts}
        </Live>
      )}
    </MemberLayout>
  );
}

/** Everything that changes while the job runs. */
export function ExportParts({ signed, facts }: { signed: SignedMember; facts: ExportFacts }) {
  const { job, report, changes, bundle, now } = facts;
  const isOver = job.status === 'completed' || job.status === 'failed';
  const site = signed.sites?.siteOf(job.domain);
  return (
    <div class="stack">
      <Title
        title={job.domain}
        beside={
          <>
            <Badge {...badgeOf(job)} />
            {!isOver && <LiveIndicator />}
          </>
        }
        below={
          <div class="title-line">
            <code class="soft">{job.id}</code>
            {site !== undefined && <a href={pathThere('sites', site)}>Site {site}</a>}
            <WorkflowLink signed={signed} id={job.id} />
          </div>
        }
      >
        {signed.membership.role !== 'reviewer' && <Actions job={job} csrf={signed.csrf} isOver={isOver} />}
      </Title>
      {job.error !== null && jobWord(job) !== 'canceled' && (
        <Message kind="error">
          <Text>{job.error}</Text>
        </Message>
      )}
      <ProgressPanel facts={facts} />
      {bundle !== null && <BundlePanel bundle={bundle} csrf={signed.csrf} now={now} />}
      {isOver && job.status === 'completed' && <ChangesPanel jobId={job.id} changes={changes} />}
      {isOver && <ReportPanel report={report} />}
    </div>
  );
}

function Actions({ job, csrf, isOver }: { job: ExportJobRow; csrf: string; isOver: boolean }) {
  return (
    <div class="actions">
      {isOver ? (
        <ActionButton action={pathOf('exports', job.id, 'again')} csrf={csrf} icon="refresh">
          Export again
        </ActionButton>
      ) : (
        <ButtonLink href={pathOf('exports', job.id, 'cancel')} icon="x" variant="danger">
          Cancel
        </ButtonLink>
      )}
    </div>
  );
}

function ProgressPanel({ facts }: { facts: ExportFacts }) {
  const { job, urls, now } = facts;
  const { pagesPerSecond, leftMs } = paceOf(job, now);
  return (
    <Panel>
      <progress max={100} value={job.progress} aria-label="Progress">{`${Math.floor(job.progress)} %`}</progress>
      <DefinitionList
        items={[
          { term: 'Progress', value: `${Math.floor(job.progress)} %` },
          { term: 'Pages', value: job.pageCount.toLocaleString('en-US') },
          ...(urls === null
            ? []
            : [
                {
                  term: 'Addresses',
                  value: `${urls.settled.toLocaleString('en-US')} of ${urls.all.toLocaleString('en-US')}`,
                },
              ]),
          { term: 'Rate', value: pagesPerSecond === null ? <None /> : `${pagesPerSecond.toFixed(1)} pages/s` },
          { term: 'Time left', value: leftMs === null ? <None /> : `about ${formatDuration(leftMs)}` },
          { term: 'Version', value: <span class="mono">{job.version}</span> },
          {
            term: 'Started',
            value: (
              <>
                <RelativeTime at={job.createdAt} now={now} />
                {facts.startedBy !== null && <StartedBy {...facts.startedBy} />}
              </>
            ),
          },
          { term: 'Took', value: <Duration from={job.startedAt} to={job.finishedAt ?? (job.startedAt && now)} /> },
          ...(facts.servedAt.length === 0
            ? []
            : [
                {
                  term: 'Served at',
                  value: facts.servedAt.map((url) => <ServedLink key={url} url={url} />),
                  wide: true,
                },
              ]),
        ]}
      />
      <StageList
        items={stagesOf(facts).map((stage) => ({
          ...{ key: stage.name, kind: 'export', status: stage.state, name: stage.name },
          times: <StageTimes stage={stage} now={now} />,
        }))}
      />
    </Panel>
  );
}

function ServedLink({ url }: { url: string }) {
  return (
    <div>
      <a href={url}>{url}</a>
    </div>
  );
}

function StartedBy({ kind, name }: Pick<Actor, 'kind' | 'name'>) {
  return (
    <>
      {' '}
      by {kind === 'key' && 'the key '}
      <Text>{name}</Text>
    </>
  );
}

function StageTimes({ stage: { state, from, to }, now }: { stage: StageRow; now: Date }) {
  const end = to ?? (state === 'running' ? now : null);
  return (
    <>
      {state === 'waiting' && 'not yet'}
      {state === 'running' && 'so far '}
      {state === 'failed' && 'stopped '}
      {state === 'canceled' && 'canceled '}
      {from !== null && end !== null && (
        <>
          <Duration from={from} to={end} />, from <Time at={from} />
        </>
      )}
    </>
  );
}

function BundlePanel({ bundle, csrf, now }: { bundle: Bundle; csrf: string; now: Date }) {
  const leftMs = Date.parse(bundle.expiresAt) - now.getTime();
  return (
    <Panel title="Bundle" aside={<ButtonLink href={bundle.bundleUrl}>Download</ButtonLink>}>
      <CopyField id="bundle-url" label="Link" value={bundle.bundleUrl} />
      <DefinitionList
        items={[
          {
            term: 'Link expires in',
            value: (
              <>
                <time class="number" dateTime={bundle.expiresAt} data-countdown="">
                  {formatDuration(leftMs)}
                </time>
                <div class="soft small">
                  <Time at={bundle.expiresAt} />
                </div>
              </>
            ),
          },
          { term: 'Size', value: formatBytes(bundle.sizeBytes) },
        ]}
      />
      <ActionButton action={pathOf('exports', bundle.jobId, 'preview')} csrf={csrf}>
        Preview
      </ActionButton>
      <p class="small soft">
        SHA-256 <code>{bundle.sha256}</code>. Load this page again for a new link to the same bytes.
      </p>
    </Panel>
  );
}

type ChangedProps = Pick<MemberLayoutProps, 'signed'> & { jobId: string; path: string; before: string; after: string };

/** The text diff of one changed page. */
export function ChangedPage({ signed, jobId, path, before, after }: ChangedProps) {
  const crumbs = [
    { label: 'Exports', href: PATHS.exports },
    { label: jobId, href: pathOf('exports', jobId) },
  ];
  return (
    <MemberLayout signed={signed} section="exports" title={path} crumbs={crumbs}>
      <h1>
        <Text>{path}</Text>
      </h1>
      <ActionButton action={pathOf('exports', jobId, 'preview')} csrf={signed.csrf} fields={{ path }}>
        Preview
      </ActionButton>
      <TextDiff path={path} before={before} after={after} />
    </MemberLayout>
  );
}
