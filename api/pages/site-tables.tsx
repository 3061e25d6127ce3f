import { WORKFLOW_IDS } from '../../contract/names.ts';
import type { ActionRecord, DeliveryRecord, DeploymentState, ExportRecord } from '../../contract/site-state.ts';
import { Badge, type BadgeProps } from '../../ui/components/badge.tsx';
import { EmptyState } from '../../ui/components/empty-state.tsx';
import { ActionButton, ButtonLink } from '../../ui/components/form.tsx';
import { None } from '../../ui/components/none.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Text } from '../../ui/components/text.tsx';
import { Duration, RelativeTime } from '../../ui/components/time.tsx';
import type { Rejected } from '../rejected-deliveries.ts';
import type { SiteStatus } from '../site-status.ts';
import { sitePath } from './layout.tsx';
import { Version } from './site-list-page.tsx';
import type { SiteView } from './site-page.tsx';

export function DeploymentsTable({ status, now }: { status: SiteStatus; now: Date }) {
  if (status.deployments.length === 0) return <EmptyState title="galley.yaml names no deployment" />;
  return (
    <Table
      caption="Deployments"
      rows={status.deployments}
      keyOf={({ valuesFile }) => valuesFile}
      columns={[
        { label: 'Deployment', cell: ({ valuesFile }) => <code>{valuesFile}</code> },
        { label: 'State', cell: DeploymentBadge },
        { label: 'Version', cell: ({ version }) => <Version>{version}</Version> },
        { label: 'Pin', cell: ({ pin }) => <Version>{pin}</Version> },
        { label: 'Updated', cell: ({ updatedAt }) => <RelativeTime at={updatedAt} now={now} none="never" /> },
        { label: 'Error', cell: ({ error }) => <Optional>{error}</Optional> },
      ]}
    />
  );
}

function DeploymentBadge({ error, off, held, version, confirmed }: DeploymentState) {
  if (error !== null) return <Badge tone="bad" label="Failing" />;
  if (off) return <Badge tone="warn" label="Off" />;
  if (held) return <Badge tone="warn" label="Held" />;
  if (version === null) return <Badge tone="neutral" label="Waiting" />;
  if (confirmed === false) return <Badge tone="busy" label="Not served yet" />;
  return <Badge tone="good" label={confirmed ? 'Served' : 'Written'} />;
}

function Optional({ children }: { children: string | null | undefined }) {
  if (children === null || children === undefined || children === '') return <None />;
  return <Text>{children}</Text>;
}

const OUTCOMES: Record<ExportRecord['outcome'], BadgeProps> = {
  running: { tone: 'busy', label: 'Running' },
  deployed: { tone: 'good', label: 'Deployed' },
  failed: { tone: 'bad', label: 'Failed' },
  replaced: { tone: 'neutral', label: 'Replaced' },
  canceled: { tone: 'neutral', label: 'Canceled' },
  review: { tone: 'warn', label: 'Waits for review' },
  rejected: { tone: 'neutral', label: 'Rejected' },
};

const TRIGGERS: Record<ExportRecord['trigger'], string> = {
  publish: 'publish',
  request: 'operator',
  'lost-bundle': 'lost bundle',
};

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
          cell: ({ number, outcome }) => (
            <span class="title-line">
              <a href={`${sitePath(status.site)}?export=${number}`} aria-label={`Timeline of export ${number}`}>
                {number}
              </a>
              <Badge {...OUTCOMES[outcome]} />
            </span>
          ),
        },
        { label: 'Version', cell: ({ version }) => <Version>{version}</Version> },
        { label: 'Trigger', cell: (record) => <Trigger record={record} /> },
        { label: 'Started', cell: ({ startedAt }) => <RelativeTime at={startedAt} now={now} /> },
        {
          label: 'Duration',
          kind: 'number',
          cell: ({ startedAt, deployedAt, endedAt, outcome }) => (
            <Duration from={startedAt} to={deployedAt ?? endedAt ?? (outcome === 'running' ? now : null)} />
          ),
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
      {title === null ? TRIGGERS[trigger] : <Text>{title}</Text>}
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

/** Shows the form only for a version that was deployed and isn't served now. */
function RollBack({ record, status }: { record: ExportRecord; status: SiteStatus }) {
  const { version, jobId, outcome } = record;
  if (outcome !== 'deployed' || jobId === null || status.version === version) return null;
  return (
    <ButtonLink
      href={`${sitePath(status.site, 'rollback')}?job=${encodeURIComponent(jobId)}`}
      label={`Roll back to ${version ?? `export ${record.number}`}`}
    >
      Roll back
    </ButtonLink>
  );
}

const DELIVERY_OUTCOMES: Record<DeliveryRecord['outcome'], BadgeProps> = {
  verified: { tone: 'neutral', label: 'Verified' },
  started: { tone: 'good', label: 'Accepted' },
  coalesced: { tone: 'good', label: 'Accepted' },
  duplicate: { tone: 'neutral', label: 'Duplicate' },
  filtered: { tone: 'neutral', label: 'Filtered' },
};

type DeliveriesProps = { view: SiteView; deliveries: readonly DeliveryRecord[] };

export function DeliveriesTable({ view, deliveries }: DeliveriesProps) {
  const { status, now, csrf } = view;
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
            workflowId !== null && (
              <ActionButton
                action={sitePath(status.site, 'run-again')}
                csrf={csrf}
                fields={{ delivery: id, ...ruleField(status.site, workflowId) }}
                label={`Run again: delivery ${id}`}
              >
                Run again
              </ActionButton>
            ),
        },
      ]}
    />
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
      <Badge {...DELIVERY_OUTCOMES[outcome]} />
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
        { label: 'Reason', cell: ({ reason }) => <Text>{reason}</Text> },
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

const ACTION_LABELS: Record<ActionRecord['action'], string> = {
  export: 'Export',
  refresh: 'Refresh link',
  pause: 'Pause',
  resume: 'Resume',
  rollback: 'Roll back',
  approve: 'Approve',
  reject: 'Reject',
  remove: 'Remove',
  'run-again': 'Run again',
};

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
        { label: 'Action', cell: ({ action }) => ACTION_LABELS[action] },
        { label: 'Detail', cell: ({ detail }) => <Optional>{detail}</Optional> },
        { label: 'Result', cell: ({ error }) => (error === null ? 'Done' : <Text>{error}</Text>) },
      ]}
    />
  );
}
