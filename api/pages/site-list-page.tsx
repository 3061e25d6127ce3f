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
import { OperatorLayout, type OperatorLayoutProps, sitePath } from './layout.tsx';
import { PHASE_OPTIONS, PhaseBadge } from './phase-badge.tsx';
import type { SiteListQuery, SiteListResult, SiteRow } from './site-list.ts';

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
  const { attention, moreAttention, sites, phasesKnown } = list;
  return (
    <div class="stack">
      {!phasesKnown && (
        <Message kind="warning">
          Phases, versions and links are not listed: Temporal's namespace lacks Galley's search attributes. Register
          them as the production guide describes.
        </Message>
      )}
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

function listPath(path: string, query: SiteListQuery): string {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}

function SiteTable({ caption = 'Sites', sites, now }: { caption?: string; sites: readonly SiteRow[]; now: Date }) {
  const columns: Column<SiteRow>[] = [
    { label: 'Site', kind: 'main', cell: SiteCell },
    { label: 'Phase', cell: ({ phase }) => <PhaseBadge phase={phase} /> },
    { label: 'Version', cell: ({ version }) => <Version>{version}</Version> },
    { label: 'Link expires', cell: ({ linkExpiresAt }) => <RelativeTime at={linkExpiresAt} now={now} /> },
    { label: 'Last publish', cell: ({ lastPublishAt }) => <RelativeTime at={lastPublishAt} now={now} /> },
    { label: 'Last error', cell: ({ lastError }) => <LastError>{lastError}</LastError> },
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

export function Version({ children }: { children: string | null }) {
  return children === null ? <None /> : <span class="mono">{children}</span>;
}

const MAX_ERROR = 140;

function LastError({ children }: { children: string | null | undefined }) {
  if (children === null || children === undefined) return <None />;
  return (
    <span class="small">
      <Text>{children.length > MAX_ERROR ? `${children.slice(0, MAX_ERROR)}…` : children}</Text>
    </span>
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
