import type { ComponentChildren } from 'preact';
import { EmptyState } from '../../ui/components/empty-state.tsx';
import { Live, LiveIndicator } from '../../ui/components/live.tsx';
import { Message } from '../../ui/components/message.tsx';
import { Panel } from '../../ui/components/panel.tsx';
import { Text } from '../../ui/components/text.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { Title } from '../../ui/components/title.tsx';
import type { ListedDelivery } from '../filtered-deliveries.ts';
import type { SiteStatus } from '../site-status.ts';
import { OperatorLayout, type OperatorLayoutProps, sitePath } from './layout.tsx';
import { PhaseBadge } from './phase-badge.tsx';
import { ReviewMessage, SiteActionsBar } from './site-action-forms.tsx';
import { SiteFacts } from './site-facts.tsx';
import {
  ActionsTable,
  DeliveriesTable,
  DeploymentsTable,
  ExportsTable,
  FilteredTables,
  RejectedTable,
  RulesTable,
} from './site-tables.tsx';
import { type TimelineEnd, timelineOf } from './timeline.ts';
import { TallTimeline, TimelineList, WideTimeline } from './timeline-picture.tsx';

/** How many of each list the site's page has; a page of its own has all. */
const SHOWN = { exports: 8, deliveries: 10, filtered: 5, actions: 5 } as const;
/** The page of its own of filtered deliveries has no more than those of the others. */
const MAX_FILTERED = 200;

/** What the parts of a site's pages are rendered from. */
export type SiteView = {
  status: SiteStatus;
  domain: string | undefined;
  /** Filtered deliveries that can be run again, newest first. */
  filtered: readonly ListedDelivery['about'][];
  /** Undefined if galley.yaml no longer has the site. */
  rules: readonly string[];
  /** The CSRF token of the session, for forms. */
  csrf: string;
  /** Whether exports have a page in the dashboard of the same `galley up`. */
  dashboard: boolean;
  /** The export whose timeline is shown; undefined for the newest. */
  exportNumber: number | undefined;
  now: Date;
  /** The URL of the site's workflow in Temporal's UI, if known. */
  workflowUrl: string | undefined;
};

type SitePageProps = Pick<OperatorLayoutProps, 'signed' | 'messages'> & { view: SiteView };

export function SitePage({ view, ...layout }: SitePageProps) {
  const { status, exportNumber } = view;
  const query = exportNumber === undefined ? '' : `?export=${exportNumber}`;
  return (
    <OperatorLayout {...layout} title={status.site} crumbs={[{ label: 'Sites', href: '/' }]}>
      <Live id="site" url={`${sitePath(status.site, 'events')}${query}`}>
        <SiteParts view={view} />
      </Live>
    </OperatorLayout>
  );
}

/** Everything that changes with the site's state. */
export function SiteParts({ view }: { view: SiteView }) {
  const { status, domain, workflowUrl, csrf, now } = view;
  return (
    <div class="stack">
      <Title
        title={status.site}
        beside={
          <>
            <PhaseBadge phase={status.phase} />
            <LiveIndicator />
          </>
        }
        below={
          <div class="title-line">
            {domain !== undefined && <a href={`https://${domain}`}>{domain}</a>}
            {workflowUrl !== undefined && <a href={workflowUrl}>Workflow in Temporal</a>}
          </div>
        }
      >
        <SiteActionsBar status={status} csrf={csrf} />
      </Title>
      <SiteMessages status={status} csrf={csrf} now={now} />
      <Panel>
        <SiteFacts status={status} now={now} />
      </Panel>
      <TimelinePanel view={view} />
      <Panel title="Deployments">
        <DeploymentsTable status={status} csrf={csrf} now={now} />
      </Panel>
      <ListPanel
        title="Exports"
        total={status.exports.length}
        shown={SHOWN.exports}
        href={sitePath(status.site, 'list', 'exports')}
      >
        <ExportsTable view={view} exports={status.exports.slice(0, SHOWN.exports)} />
      </ListPanel>
      <ListPanel
        title="Deliveries"
        total={status.deliveries.length}
        shown={SHOWN.deliveries}
        href={sitePath(status.site, 'list', 'deliveries')}
      >
        <DeliveriesTable view={view} deliveries={status.deliveries.slice(0, SHOWN.deliveries)} />
      </ListPanel>
      {view.filtered.length > 0 && (
        <ListPanel
          title="Filtered deliveries"
          total={view.filtered.length}
          shown={SHOWN.filtered}
          href={sitePath(status.site, 'list', 'filtered')}
        >
          <FilteredTables view={view} filtered={view.filtered.slice(0, SHOWN.filtered)} />
        </ListPanel>
      )}
      <RejectedPanel view={view} />
      {view.rules.length > 0 && (
        <Panel title="Agent rules">
          <RulesTable view={view} />
        </Panel>
      )}
      <ListPanel
        title="Actions"
        total={status.actions.length}
        shown={SHOWN.actions}
        href={sitePath(status.site, 'list', 'actions')}
      >
        <ActionsTable actions={status.actions.slice(0, SHOWN.actions)} now={now} />
      </ListPanel>
    </div>
  );
}

type ListPanelProps = { title: string; total: number; shown: number; href: string; children: ComponentChildren };

function ListPanel({ title, total, shown, href, children }: ListPanelProps) {
  return (
    <Panel
      title={title}
      aside={
        total > shown && (
          <a href={href} aria-label={`All ${total} ${title.toLowerCase()}`}>
            All {total}
          </a>
        )
      }
    >
      {children}
    </Panel>
  );
}

function SiteMessages({ status, csrf, now }: { status: SiteStatus; csrf: string; now: Date }) {
  const { current, lock, withheld, review, lastError, phase } = status;
  return (
    <>
      {!current && (
        <Message kind="warning">
          The site's workflow did not respond in time, so this is what Temporal recorded last. Check that a worker runs.
        </Message>
      )}
      {review !== null && <ReviewMessage site={status.site} review={review} csrf={csrf} />}
      {lock !== null && <LockMessage lock={lock} now={now} />}
      {withheld !== null && (
        <Message kind="info">
          The newer version <Text>{withheld.version ?? withheld.exportedAt}</Text> is not served until{' '}
          {lock === null ? 'the next publish' : 'the site is unlocked'}.
        </Message>
      )}
      {phase === 'paused' && <Message kind="info">Paused: publishes are collected and exported after Resume.</Message>}
      {lastError !== null && (
        <Message kind={phase === 'failed' || phase === 'unconfigured' ? 'error' : 'warning'}>
          {lastError.message}
        </Message>
      )}
    </>
  );
}

function LockMessage({ lock: { by, at, reason }, now }: { lock: NonNullable<SiteStatus['lock']>; now: Date }) {
  return (
    <Message kind="info">
      Locked by <Text>{by}</Text>, <RelativeTime at={at} now={now} />
      {reason !== null && (
        <>
          : <Text>{reason}</Text>
        </>
      )}
      . Publishes are exported, but not deployed, until the site is unlocked. Links stay fresh.
    </Message>
  );
}

const ENDINGS: Record<TimelineEnd, string> = {
  partly: 'A newer version came before all deployments had this one.',
  superseded: 'A newer version came before any deployment had this one.',
  held: 'This export is not deployed: a guard holds it, or no deployment takes new versions.',
  failed: 'This export failed.',
  canceled: 'This export was canceled.',
  rejected: 'This export was rejected.',
  'rolled-back': 'This version was rolled back.',
};

function TimelinePanel({ view: { status, exportNumber, now } }: { view: SiteView }) {
  const timeline = timelineOf(status, exportNumber, now.getTime());
  if (timeline === undefined) {
    return (
      <Panel title="Timeline">
        <EmptyState title="Nothing to show yet">
          <p>The first publish appears here: its delivery, export, deployment, and each refresh of its link.</p>
        </EmptyState>
      </Panel>
    );
  }
  const { number, end, error } = timeline;
  return (
    <Panel
      id="timeline"
      title={number === null ? 'Timeline of the next export' : `Timeline of export ${number}`}
      aside={exportNumber !== undefined && <a href={sitePath(status.site)}>Newest export</a>}
    >
      <WideTimeline timeline={timeline} now={now} />
      <TallTimeline timeline={timeline} now={now} />
      {error !== null && <p class="field-error">{error}</p>}
      {end !== null && error === null && <p class="soft">{ENDINGS[end]}</p>}
      <TimelineList timeline={timeline} now={now} />
    </Panel>
  );
}

function RejectedPanel({ view }: { view: SiteView }) {
  if (view.status.rejected.length === 0) return null;
  return (
    <Panel title="Rejected deliveries">
      <p class="soft small">Counted by this process since it started.</p>
      <RejectedTable rejected={view.status.rejected} now={view.now} />
    </Panel>
  );
}

const LISTS = {
  exports: 'Exports',
  deliveries: 'Deliveries',
  filtered: 'Filtered deliveries',
  actions: 'Actions',
} as const;
type SiteListName = keyof typeof LISTS;

export function isSiteList(name: string): name is SiteListName {
  return Object.hasOwn(LISTS, name);
}

/** All that is kept of one list. */
export function SiteListPage({ view, list, ...layout }: SitePageProps & { list: SiteListName }) {
  const { status } = view;
  return (
    <OperatorLayout
      {...layout}
      title={`${LISTS[list]} of ${status.site}`}
      crumbs={[
        { label: 'Sites', href: '/' },
        { label: status.site, href: sitePath(status.site) },
      ]}
    >
      <h1>{LISTS[list]}</h1>
      <Panel>
        {list === 'exports' && <ExportsTable view={view} exports={status.exports} />}
        {list === 'deliveries' && <DeliveriesTable view={view} deliveries={status.deliveries} />}
        {list === 'filtered' && <FilteredTables view={view} filtered={view.filtered.slice(0, MAX_FILTERED)} />}
        {list === 'actions' && <ActionsTable actions={status.actions} now={view.now} />}
      </Panel>
    </OperatorLayout>
  );
}
