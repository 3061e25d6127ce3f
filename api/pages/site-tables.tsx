import { WORKFLOW_IDS } from '../../contract/names.ts';
import type { ActionRecord, DeliveryRecord, DeploymentState, ExportRecord } from '../../contract/site-state.ts';
import {
  ACTION_WORDS,
  DELIVERY_WORDS,
  DESIRED_WORDS,
  deploymentWords,
  OUTCOME_WORDS,
  rejectionWords,
  TRIGGER_WORDS,
} from '../../contract/site-words.ts';
import { Badge, type BadgeProps } from '../../ui/components/badge.tsx';
import { EmptyState } from '../../ui/components/empty-state.tsx';
import { ActionButton, ButtonLink } from '../../ui/components/form.tsx';
import { None } from '../../ui/components/none.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Text } from '../../ui/components/text.tsx';
import { Duration, RelativeTime } from '../../ui/components/time.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import type { ListedDelivery } from '../filtered-deliveries.ts';
import type { Rejected } from '../rejected-deliveries.ts';
import type { SiteStatus } from '../site-status.ts';
import { dashboardPath, sitePath } from './layout.tsx';
import { DeploymentForms } from './site-action-forms.tsx';
import { Version } from './site-facts.tsx';
import type { SiteView } from './site-page.tsx';

type DeploymentsProps = { status: SiteStatus; csrf: string; now: Date };

export function DeploymentsTable({ status: { site, deployments }, csrf, now }: DeploymentsProps) {
  if (deployments.length === 0) return <EmptyState title="galley.yaml names no deployment" />;
  const hasWaves = new Set(deployments.map(({ wave }) => wave)).size > 1;
  return (
    <Table
      caption="Deployments"
      rows={deployments}
      keyOf={({ name }) => name}
      columns={[
        { label: 'Deployment', kind: 'main', cell: (each) => <DeploymentName deployment={each} hasWaves={hasWaves} /> },
        { label: 'State', cell: DeploymentBadge },
        { label: 'Version', cell: ({ version }) => <Version>{version}</Version> },
        { label: 'Since', cell: (deployment) => <ServedSince deployment={deployment} now={now} /> },
        { label: 'Should have', cell: DesiredVersion },
        { label: 'Error', cell: ({ error }) => <Optional>{error?.message}</Optional> },
        {
          label: 'Actions',
          kind: 'actions',
          cell: (deployment) => <DeploymentForms site={site} deployment={deployment} csrf={csrf} />,
        },
      ]}
    />
  );
}

function DeploymentName({ deployment, hasWaves }: { deployment: DeploymentState; hasWaves: boolean }) {
  const { name, url, wave } = deployment;
  return (
    <>
      {url === null ? <Text>{name}</Text> : <a href={url}>{visibleText(name)}</a>}
      {hasWaves && <div class="soft small">wave {wave}</div>}
    </>
  );
}

const DEPLOYMENT_TONES: Partial<Record<DeploymentState['state'], BadgeProps['tone']>> = {
  approval: 'warn',
  writing: 'busy',
  confirming: 'busy',
  unknown: 'warn',
  live: 'good',
  proposed: 'warn',
  held: 'warn',
  off: 'warn',
  locked: 'warn',
  failed: 'bad',
};

function DeploymentBadge({ state, confirmed, proposal }: DeploymentState) {
  return (
    <>
      <Badge tone={DEPLOYMENT_TONES[state] ?? 'neutral'} label={deploymentWords({ state, confirmed })} />
      {proposal !== null && (
        <div class="small">
          {/^https?:\/\//i.test(proposal) ? <a href={proposal}>Pull request</a> : <Text>{proposal}</Text>}
        </div>
      )}
    </>
  );
}

/** Since when it is served or, if nothing says what is served, written. */
function ServedSince({ deployment, now }: { deployment: DeploymentState; now: Date }) {
  const { servedAt, writtenAt, confirmed } = deployment;
  return <RelativeTime at={confirmed === null ? writtenAt : servedAt} now={now} none="not served" />;
}

/** What it should have and why, unless that is simply the newest version, which it has. */
function DesiredVersion({ desired, jobId, pin }: DeploymentState) {
  if (desired.reason === 'newest' && desired.jobId === jobId) return <None />;
  return (
    <>
      <Version>{pin ?? desired.version ?? desired.jobId}</Version>
      <div class="soft small">{DESIRED_WORDS[desired.reason]}</div>
    </>
  );
}

function Optional({ children }: { children: string | null | undefined }) {
  if (children === null || children === undefined || children === '') return <None />;
  return <Text>{children}</Text>;
}

const OUTCOME_TONES: Partial<Record<NonNullable<ExportRecord['outcome']>, BadgeProps['tone']>> = {
  served: 'good',
  written: 'good',
  held: 'warn',
  failed: 'bad',
};

function OutcomeBadges({ outcome, exportedAt, rolledBackAt }: ExportRecord) {
  return (
    <>
      {outcome === null ? (
        <Badge tone="busy" label={exportedAt === null ? 'Running' : 'Being deployed'} />
      ) : (
        <Badge tone={OUTCOME_TONES[outcome] ?? 'neutral'} label={OUTCOME_WORDS[outcome]} />
      )}
      {rolledBackAt !== null && <Badge tone="warn" label="Rolled back" />}
    </>
  );
}

export function ExportsTable({ view, exports }: { view: SiteView; exports: readonly ExportRecord[] }) {
  const { status, now } = view;
  if (exports.length === 0) return <EmptyState title="No exports yet" />;
  return (
    <Table
      caption="Exports"
      rows={exports}
      keyOf={({ number }) => String(number)}
      columns={[
        {
          label: 'Export',
          kind: 'main',
          cell: (record) => (
            <span class="title-line">
              <a
                href={`${sitePath(status.site)}?export=${record.number}`}
                aria-label={`Timeline of export ${record.number}`}
              >
                {record.number}
              </a>
              <OutcomeBadges {...record} />
            </span>
          ),
        },
        {
          label: 'Version',
          cell: ({ version, jobId }) =>
            view.dashboard && jobId !== null ? (
              <a href={dashboardPath('exports', jobId)}>
                <Version>{version ?? jobId}</Version>
              </a>
            ) : (
              <Version>{version}</Version>
            ),
        },
        { label: 'Trigger', cell: (record) => <Trigger record={record} /> },
        { label: 'Started', cell: ({ startedAt }) => <RelativeTime at={startedAt} now={now} /> },
        {
          label: 'Duration',
          kind: 'number',
          cell: ({ startedAt, writtenAt, endedAt }) => <Duration from={startedAt} to={writtenAt ?? endedAt ?? now} />,
        },
        { label: 'Pages', kind: 'number', cell: ({ pageCount }) => pageCount?.toLocaleString('en-US') ?? <None /> },
        { label: 'Actions', kind: 'actions', cell: (record) => <RollBack record={record} status={status} /> },
      ]}
    />
  );
}

function Trigger({ record: { trigger, publishCount, title, author, error } }: { record: ExportRecord }) {
  const more = publishCount > 1 ? ` and ${publishCount - 1} more` : '';
  return (
    <>
      {title === null ? TRIGGER_WORDS[trigger] : <Text>{title}</Text>}
      {more}
      {author !== null && (
        <span class="soft">
          {' '}
          by <Text>{author}</Text>
        </span>
      )}
      {error !== null && (
        <div class="field-error">
          <Text>{error}</Text>
        </div>
      )}
    </>
  );
}

/** Shows the form only for a version that was deployed and isn't the one that the deployments should have. */
function RollBack({ record, status }: { record: ExportRecord; status: SiteStatus }) {
  const { version, jobId, writtenAt } = record;
  if (writtenAt === null || jobId === null || status.jobId === jobId) return null;
  return (
    <ButtonLink
      href={`${sitePath(status.site, 'rollback')}?job=${encodeURIComponent(jobId)}`}
      label={`Roll back to ${version ?? `export ${record.number}`}`}
    >
      Roll back
    </ButtonLink>
  );
}

type DeliveriesProps = { view: SiteView; deliveries: readonly DeliveryRecord[] };

export function DeliveriesTable({ view, deliveries }: DeliveriesProps) {
  const { status, now } = view;
  if (deliveries.length === 0) return <EmptyState title="No deliveries yet" />;
  return (
    <Table
      caption="Deliveries"
      rows={deliveries}
      keyOf={({ source, id }) => `${source} ${id}`}
      columns={[
        { label: 'Received', cell: ({ at }) => <RelativeTime at={at} now={now} /> },
        { label: 'Source', cell: ({ source, topic }) => <SourceCell source={source} topic={topic} /> },
        { label: 'Content', cell: (delivery) => <ContentCell delivery={delivery} /> },
        { label: 'Result', cell: (delivery) => <ResultCell delivery={delivery} site={status.site} /> },
        {
          label: 'Actions',
          kind: 'actions',
          cell: ({ id, workflowId }) =>
            workflowId !== null && <RunAgain view={view} id={id} fields={ruleField(status.site, workflowId)} />,
        },
      ]}
    />
  );
}

function RunAgain({ view, id, fields = {} }: { view: SiteView; id: string; fields?: { rule?: string } }) {
  return (
    <ActionButton
      action={sitePath(view.status.site, 'run-again')}
      csrf={view.csrf}
      fields={{ delivery: id, ...fields }}
      label={`Run again: delivery ${id}`}
    >
      Run again
    </ActionButton>
  );
}

/** A table for each source, because a filter is one of a source. */
export function FilteredTables({ view, filtered }: { view: SiteView; filtered: readonly ListedDelivery['about'][] }) {
  if (filtered.length === 0) return <EmptyState title="No filtered delivery is kept" />;
  return (
    <>
      <p class="soft small">Correct the filter and restart the api, then run them again.</p>
      {[...new Set(filtered.map(({ source }) => source))].map((source) => (
        <Table
          key={source}
          caption={`Filtered deliveries of ${source}`}
          rows={filtered.filter((each) => each.source === source)}
          keyOf={({ id }) => id}
          columns={[
            { label: 'Received', cell: ({ at }) => <RelativeTime at={at} now={view.now} /> },
            { label: 'Source', cell: ({ topic }) => <SourceCell source={source} topic={topic} /> },
            { label: 'Reason', cell: ({ why }) => <Text>{why}</Text> },
            { label: 'Actions', kind: 'actions', cell: ({ id }) => <RunAgain view={view} id={id} /> },
          ]}
        />
      ))}
    </>
  );
}

/** The rule that a delivery went to, if any: running the delivery again prompts its agent. */
function ruleField(site: string, workflowId: string): { rule?: string } {
  const prefix = WORKFLOW_IDS.agentRule(site, '');
  return workflowId.startsWith(prefix) ? { rule: workflowId.slice(prefix.length) } : {};
}

function SourceCell({ source, topic }: { source: string; topic: string | undefined }) {
  return (
    <>
      <Text>{source}</Text>
      {topic !== undefined && (
        <div class="soft small">
          <Text>{topic}</Text>
        </div>
      )}
    </>
  );
}

function ContentCell({ delivery: { title, author, id } }: { delivery: DeliveryRecord }) {
  return (
    <>
      {title === undefined ? <code class="soft">{id}</code> : <Text>{title}</Text>}
      {author !== undefined && (
        <span class="soft">
          {' '}
          by <Text>{author}</Text>
        </span>
      )}
    </>
  );
}

function ResultCell({ delivery, site }: { delivery: DeliveryRecord; site: string }) {
  const { outcome, why, exportNumber } = delivery;
  return (
    <span class="title-line">
      <Badge
        tone={outcome === 'started' || outcome === 'coalesced' ? 'good' : 'neutral'}
        label={DELIVERY_WORDS[outcome]}
      />
      {exportNumber === null && <span class="soft">waits for its export</span>}
      {typeof exportNumber === 'number' && (
        <a href={`${sitePath(site)}?export=${exportNumber}`}>export {exportNumber}</a>
      )}
      {why !== undefined && (
        <span class="soft">
          <Text>{why}</Text>
        </span>
      )}
    </span>
  );
}

export function RejectedTable({ rejected, now }: { rejected: readonly Rejected[]; now: Date }) {
  return (
    <Table
      caption="Rejected deliveries"
      rows={rejected}
      keyOf={({ source, reason }) => `${source} ${reason}`}
      columns={[
        { label: 'Source', cell: ({ source }) => <Text>{source}</Text> },
        { label: 'Reason', cell: ({ reason }) => <Text>{rejectionWords(reason)}</Text> },
        { label: 'Count', kind: 'number', cell: ({ count }) => count.toLocaleString('en-US') },
        { label: 'Last', cell: ({ lastAt }) => <RelativeTime at={lastAt} now={now} /> },
      ]}
    />
  );
}

export function RulesTable({ view: { status, rules } }: { view: SiteView }) {
  return (
    <ul class="plain">
      {rules.map((rule) => (
        <li key={rule}>
          <a href={sitePath(status.site, 'rules', rule)}>{rule}</a>
        </li>
      ))}
    </ul>
  );
}

export function ActionsTable({ actions, now }: { actions: readonly ActionRecord[]; now: Date }) {
  if (actions.length === 0) return <EmptyState title="No operator has acted on this site yet" />;
  return (
    <Table
      caption="What operators did"
      rows={actions}
      keyOf={({ at, actor, action }) => `${at} ${actor} ${action}`}
      columns={[
        { label: 'When', cell: ({ at }) => <RelativeTime at={at} now={now} /> },
        { label: 'Who', cell: ({ actor }) => <Text>{actor}</Text> },
        { label: 'Action', cell: ({ action }) => ACTION_WORDS[action] },
        { label: 'Detail', cell: ({ detail }) => <Optional>{detail}</Optional> },
        { label: 'Result', cell: ({ error }) => (error === null ? 'Done' : <Text>{error}</Text>) },
      ]}
    />
  );
}
