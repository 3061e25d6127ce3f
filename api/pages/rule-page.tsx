import type { AgentChangePhase, AgentRuleState } from '../../contract/agent-state.ts';
import { Badge, type BadgeProps } from '../../ui/components/badge.tsx';
import { DefinitionList } from '../../ui/components/definition-list.tsx';
import { EmptyState } from '../../ui/components/empty-state.tsx';
import { Message } from '../../ui/components/message.tsx';
import { Panel } from '../../ui/components/panel.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Text } from '../../ui/components/text.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { Title } from '../../ui/components/title.tsx';
import { changePath, OperatorLayout, type OperatorLayoutProps, sitePath } from './layout.tsx';

type RulePageProps = Pick<OperatorLayoutProps, 'signed' | 'temporalUiUrl'> & {
  site: string;
  rule: string;
  /** Undefined: it has collected nothing yet, or its workflow doesn't respond. */
  state: AgentRuleState | undefined;
  workflowUrl: string | undefined;
  now: Date;
};

const RULE_PHASES: Record<AgentRuleState['phase'], BadgeProps> = {
  idle: { tone: 'good', label: 'Ready' },
  collecting: { tone: 'busy', label: 'Collecting' },
  limited: { tone: 'warn', label: 'At its limit' },
  unconfigured: { tone: 'bad', label: 'Not configured' },
};

export const CHANGE_PHASES: Record<AgentChangePhase, BadgeProps> = {
  prompting: { tone: 'busy', label: 'Prompting' },
  working: { tone: 'busy', label: 'Agent at work' },
  notifying: { tone: 'busy', label: 'Notifying' },
  'in-review': { tone: 'busy', label: 'In review' },
  revising: { tone: 'busy', label: 'Agent revises' },
  merged: { tone: 'good', label: 'Merged' },
  closed: { tone: 'neutral', label: 'Closed' },
  expired: { tone: 'warn', label: 'Expired' },
  unchanged: { tone: 'neutral', label: 'No change' },
  failed: { tone: 'bad', label: 'Failed' },
  cancelled: { tone: 'neutral', label: 'Cancelled' },
};

export function RulePage({ site, rule, state, workflowUrl, now, ...layout }: RulePageProps) {
  const crumbs = [
    { label: 'Sites', href: '/' },
    { label: site, href: sitePath(site) },
  ];
  return (
    <OperatorLayout {...layout} title={`${rule} of ${site}`} crumbs={crumbs}>
      <Title title={rule} beside={state !== undefined && <Badge {...RULE_PHASES[state.phase]} />}>
        {workflowUrl !== undefined && <a href={workflowUrl}>Workflow</a>}
      </Title>
      {state === undefined ? (
        <Panel>
          <EmptyState title="No prompts yet">
            <p>The rule has collected no event, or its workflow does not respond.</p>
          </EmptyState>
        </Panel>
      ) : (
        <RuleParts state={state} now={now} />
      )}
    </OperatorLayout>
  );
}

function RuleParts({ state, now }: { state: AgentRuleState; now: Date }) {
  const { pendingCount, dueAt, changes, unsubscribed, error } = state;
  return (
    <>
      {error !== null && <Message kind="error">{error}</Message>}
      <Panel>
        <DefinitionList
          items={[
            { term: 'Events collected', value: String(pendingCount) },
            { term: 'Next prompt', value: <RelativeTime at={dueAt} now={now} none="with the next event" /> },
            { term: 'Unsubscribed', value: unsubscribed.length === 0 ? 'none' : unsubscribed.join(', ') },
          ]}
        />
      </Panel>
      <Panel title="Changes">
        {changes.length === 0 ? (
          <EmptyState title="No changes yet" />
        ) : (
          <Table
            caption="Changes"
            rows={changes}
            keyOf={({ workflowId }) => workflowId}
            columns={[
              {
                label: 'Change',
                kind: 'main',
                cell: ({ workflowId }) => (
                  <a href={changePath(workflowId)}>{workflowId.split(':').slice(3).join(':')}</a>
                ),
              },
              { label: 'Started', cell: ({ startedAt }) => <RelativeTime at={startedAt} now={now} /> },
              { label: 'Result', cell: ({ end }) => <ChangeEnd end={end} /> },
            ]}
          />
        )}
      </Panel>
    </>
  );
}

function ChangeEnd({ end }: { end: AgentRuleState['changes'][number]['end'] }) {
  if (end === undefined) return <Badge tone="busy" label="In progress" />;
  return (
    <span class="title-line">
      <Badge {...CHANGE_PHASES[end.phase]} />
      {end.message !== null && (
        <span class="soft">
          <Text>{end.message}</Text>
        </span>
      )}
    </span>
  );
}
