import type { AgentChangeState, AgentRuleState } from '../../contract/agent-state.ts';
import { Badge, type BadgeProps } from '../../ui/components/badge.tsx';
import { DefinitionList } from '../../ui/components/definition-list.tsx';
import { EmptyState } from '../../ui/components/empty-state.tsx';
import { Live, LiveIndicator } from '../../ui/components/live.tsx';
import { Message } from '../../ui/components/message.tsx';
import { None } from '../../ui/components/none.tsx';
import { Panel } from '../../ui/components/panel.tsx';
import { PullRequestLink } from '../../ui/components/pull-request.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Text } from '../../ui/components/text.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { Title } from '../../ui/components/title.tsx';
import type { ChangeStates } from './agent-reader.ts';
import { CHANGE_PHASES, reviewersOf } from './change-parts.tsx';
import { changePath, OperatorLayout, type OperatorLayoutProps, sitePath } from './layout.tsx';

type RuleView = {
  site: string;
  rule: string;
  /** Undefined: it has collected nothing yet, or its workflow doesn't respond. */
  state: AgentRuleState | undefined;
  /** Of the changes that respond. */
  states: ChangeStates;
  workflowUrl: string | undefined;
  now: Date;
};

const RULE_PHASES: Record<AgentRuleState['phase'], BadgeProps> = {
  idle: { tone: 'good', label: 'Ready' },
  collecting: { tone: 'busy', label: 'Collecting' },
  limited: { tone: 'warn', label: 'At its limit' },
  unconfigured: { tone: 'bad', label: 'Not configured' },
};

type RulePageProps = RuleView & Pick<OperatorLayoutProps, 'signed'>;

export function RulePage({ signed, ...view }: RulePageProps) {
  const { site, rule } = view;
  const crumbs = [
    { label: 'Sites', href: '/' },
    { label: site, href: sitePath(site) },
  ];
  return (
    <OperatorLayout {...{ signed, crumbs }} title={`${rule} of ${site}`}>
      <Live id="rule" url={sitePath(site, 'rules', rule, 'events')}>
        <RuleParts {...view} />
      </Live>
    </OperatorLayout>
  );
}

/** Everything that changes with the rule's state. */
export function RuleParts({ rule, state, states, workflowUrl, now }: RuleView) {
  return (
    <div class="stack">
      <Title
        title={rule}
        beside={
          <>
            {state !== undefined && <Badge {...RULE_PHASES[state.phase]} />}
            <LiveIndicator />
          </>
        }
      >
        {workflowUrl !== undefined && <a href={workflowUrl}>Workflow</a>}
      </Title>
      {state === undefined ? (
        <Panel>
          <EmptyState title="No prompts yet">
            <p>The rule has collected no event, or its workflow does not respond.</p>
          </EmptyState>
        </Panel>
      ) : (
        <RuleFacts {...{ state, states, now }} />
      )}
    </div>
  );
}

function RuleFacts({ state, states, now }: { state: AgentRuleState; states: ChangeStates; now: Date }) {
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
                  <a href={changePath(workflowId)}>
                    <Text>{states[workflowId]?.pullRequest?.title ?? 'Without a pull request'}</Text>
                  </a>
                ),
              },
              {
                label: 'Pull request',
                cell: ({ workflowId }) => {
                  const { prLink = null, pullRequest } = states[workflowId] ?? {};
                  return prLink === null ? <None /> : <PullRequestLink href={prLink} state={pullRequest?.state} />;
                },
              },
              { label: 'Reviewers', cell: ({ workflowId }) => <Reviewers state={states[workflowId]} /> },
              { label: 'Started', cell: ({ startedAt }) => <RelativeTime at={startedAt} now={now} /> },
              { label: 'State', cell: (change) => <ChangeState {...change} state={states[change.workflowId]} /> },
            ]}
          />
        )}
      </Panel>
    </>
  );
}

function Reviewers({ state }: { state: AgentChangeState | undefined }) {
  const reviewers = state === undefined ? [] : reviewersOf(state);
  return reviewers.length === 0 ? <None /> : <Text>{reviewers.join(', ')}</Text>;
}

/** The change's own word, or what it reported at its end; unknown if it doesn't respond. */
function ChangeState({
  end,
  state,
}: Pick<AgentRuleState['changes'][number], 'end'> & { state: AgentChangeState | undefined }) {
  const phase = state?.phase ?? end?.phase;
  if (phase === undefined) return <Badge tone="neutral" label="Unknown" />;
  return (
    <span class="title-line">
      <Badge {...CHANGE_PHASES[phase]} />
      {end != null && end.message !== null && (
        <span class="soft">
          <Text>{end.message}</Text>
        </span>
      )}
    </span>
  );
}
