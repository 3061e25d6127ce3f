import { DefinitionList } from '../../ui/components/definition-list.tsx';
import { EmptyState } from '../../ui/components/empty-state.tsx';
import { Button, Field, Form, Select } from '../../ui/components/form.tsx';
import { Live, LiveIndicator } from '../../ui/components/live.tsx';
import { Message } from '../../ui/components/message.tsx';
import { None } from '../../ui/components/none.tsx';
import { Pager } from '../../ui/components/pager.tsx';
import { Panel } from '../../ui/components/panel.tsx';
import { type Column, Table } from '../../ui/components/table.tsx';
import { Text } from '../../ui/components/text.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { Title } from '../../ui/components/title.tsx';
import { formatCount } from '../../ui/format.ts';
import { listPath } from '../../web/list-path.ts';
import { OperatorLayout, type OperatorLayoutProps, sitePath } from './layout.tsx';
import { PHASE_OPTIONS, PhaseBadge } from './phase-badge.tsx';
import { Failures, OldestUnserved, PublishToServed, Version } from './site-facts.tsx';
import { type SiteListQuery, type SiteListResult, type SiteRow, summaryOf } from './site-list.ts';

type ListView = { list: SiteListResult; query: SiteListQuery; now: Date };

type SiteListPageProps = ListView & Pick<OperatorLayoutProps, 'signed' | 'messages'>;

const ANY_PHASE = { value: '', label: 'Any phase' };

export function SiteListView({ list, query, now, ...layout }: SiteListPageProps) {
  const { configured } = list;
  const beside = (
    <>
      <span class="soft">{formatCount(configured, 'site')}</span>
      <LiveIndicator />
    </>
  );
  return (
    <OperatorLayout {...layout} title="Sites">
      <Title title="Sites" beside={beside}>
        <search>
          <Form action="/" inline>
            <Field label="Name or domain" name="search" type="search" value={query.search} maxLength={100} />
            <Select label="Phase" name="phase" value={query.phase} options={[ANY_PHASE, ...PHASE_OPTIONS]} />
            <Button icon="search">Search</Button>
          </Form>
        </search>
      </Title>
      <Live id="sites" url={listPath('/ui/events', query)}>
        <SiteListParts {...{ list, query, now }} />
      </Live>
    </OperatorLayout>
  );
}

/** Everything that changes with the sites' states. */
export function SiteListParts({ list, query, now }: ListView) {
  const { attention, moreAttention, sites, configured, phasesKnown } = list;
  const isOverview = query.search === '' && query.phase === '' && query.after === '';
  return (
    <div class="stack">
      {!phasesKnown && (
        <Message kind="warning">
          Sites can not be filtered by phase: Temporal's namespace lacks Galley's search attributes. Register them as
          the production guide describes.
        </Message>
      )}
      {isOverview && configured > 0 && <Overview list={list} now={now} />}
      {attention.length > 0 && (
        <Panel
          title="Needs a person"
          aside={
            <span class="soft">
              {moreAttention
                ? `the ${attention.length} most urgent; filter by phase for the others`
                : formatCount(attention.length, 'site')}
            </span>
          }
        >
          <SiteTable caption="Sites that need a person" sites={attention} now={now} />
        </Panel>
      )}
      <Panel title={attention.length > 0 ? 'All other sites' : undefined}>
        {sites.length === 0 ? <NoSites list={list} query={query} /> : <SiteTable sites={sites} now={now} />}
      </Panel>
      <ListPager list={list} query={query} />
    </div>
  );
}

/** Is everything fresh, what runs, and what needs a person? Of the rows below, so that both agree. */
function Overview({ list, now }: { list: SiteListResult; now: Date }) {
  const { attention, sites, nextAfter, moreAttention } = list;
  const rows = [...attention, ...sites];
  const { behind, oldest, unknown, running } = summaryOf(rows);
  const all = formatCount(rows.length, 'site');
  const needs = `${moreAttention ? 'more than ' : ''}${formatCount(attention.length, 'site')}`;
  return (
    <Panel title="Now" aside={nextAfter !== undefined && <span class="soft small">{`of ${all} on this page`}</span>}>
      <DefinitionList
        items={[
          { term: 'Fresh', value: behind === 0 ? 'no publish waits to be served' : `${behind} of ${all} behind` },
          ...(oldest === undefined ? [] : [{ term: 'Oldest not served', value: <Oldest {...oldest} now={now} /> }]),
          ...(unknown === 0 ? [] : [{ term: 'Did not answer', value: formatCount(unknown, 'site') }]),
          { term: 'Runs', value: running === 0 ? 'nothing' : formatCount(running, 'site') },
          { term: 'Needs a person', value: attention.length === 0 ? 'nothing' : needs },
        ]}
      />
    </Panel>
  );
}

function Oldest({ site, at, now }: { site: string; at: string; now: Date }) {
  return (
    <>
      <a href={sitePath(site)}>{site}</a>, <RelativeTime at={at} now={now} />
    </>
  );
}

function SiteTable({ caption = 'Sites', sites, now }: { caption?: string; sites: readonly SiteRow[]; now: Date }) {
  const columns: Column<SiteRow>[] = [
    { label: 'Site', kind: 'main', cell: SiteCell },
    { label: 'Phase', cell: ({ phase }) => <PhaseBadge phase={phase} /> },
    { label: 'Version', cell: (row) => <VersionCell {...row} now={now} /> },
    {
      label: 'Oldest not served',
      cell: ({ oldestUnserved }) =>
        oldestUnserved === undefined ? <None /> : <OldestUnserved oldest={oldestUnserved} now={now} />,
    },
    { label: 'Publish to served', cell: ({ figures = null }) => <PublishToServed figures={figures} /> },
    {
      label: 'Failed exports',
      cell: ({ figures = null, lastError }) => (
        <>
          <Failures figures={figures} now={now} />
          {lastError != null && <LastError>{lastError}</LastError>}
        </>
      ),
    },
  ];
  return <Table caption={caption} columns={columns} rows={sites} keyOf={({ site }) => site} fixed />;
}

function SiteCell({ site, domain }: SiteRow) {
  return (
    <>
      <a href={sitePath(site)}>{site}</a>
      {domain !== undefined && (
        <div class="soft small">
          <Text>{domain}</Text>
        </div>
      )}
    </>
  );
}

function VersionCell({ version, lastPublishAt, linkExpiresAt, now }: SiteRow & { now: Date }) {
  return (
    <>
      <Version>{version}</Version>
      {lastPublishAt != null && (
        <div class="soft small">
          published <RelativeTime at={lastPublishAt} now={now} />
        </div>
      )}
      {linkExpiresAt !== null && (
        <div class="soft small">
          link ends <RelativeTime at={linkExpiresAt} now={now} />
        </div>
      )}
    </>
  );
}

const MAX_ERROR = 140;

function LastError({ children }: { children: string }) {
  return (
    <div class="small">
      <Text>{children.length > MAX_ERROR ? `${children.slice(0, MAX_ERROR)}…` : children}</Text>
    </div>
  );
}

function NoSites({ list, query }: { list: SiteListResult; query: SiteListQuery }) {
  if (list.configured === 0) {
    return (
      <EmptyState title="No sites yet">
        <p>
          Add one to <code>galley.yaml</code> and start Galley again.
        </p>
      </EmptyState>
    );
  }
  if (list.attention.length > 0) return <EmptyState title="Every other site is as it should be" />;
  const isFiltered = query.search !== '' || query.phase !== '';
  return (
    <EmptyState title={isFiltered ? 'No site matches' : 'No more sites'}>
      <p>
        <a href="/">All sites</a>
      </p>
    </EmptyState>
  );
}

function ListPager({ list, query }: { list: SiteListResult; query: SiteListQuery }) {
  const href = (after: string): string => listPath('/', { ...query, after });
  if (query.after === '' && list.nextAfter === undefined) return null;
  return (
    <Pager
      summary={
        query.search === '' ? formatCount(list.configured, 'site') : `${formatCount(list.matching, 'site')} found`
      }
      firstHref={query.after === '' ? undefined : href('')}
      nextHref={list.nextAfter === undefined ? undefined : href(list.nextAfter)}
    />
  );
}
