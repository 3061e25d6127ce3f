import type { AgentChangeState, MailOutcome } from '../../contract/agent-state.ts';
import { mailWords } from '../../contract/site-words.ts';
import { Badge, type BadgeProps } from '../../ui/components/badge.tsx';
import { DefinitionList } from '../../ui/components/definition-list.tsx';
import { EmptyState } from '../../ui/components/empty-state.tsx';
import { ActionButton } from '../../ui/components/form.tsx';
import { Live, LiveIndicator } from '../../ui/components/live.tsx';
import { Message } from '../../ui/components/message.tsx';
import { Panel } from '../../ui/components/panel.tsx';
import { PullRequestLink, REVIEW_VERDICTS } from '../../ui/components/pull-request.tsx';
import { Table } from '../../ui/components/table.tsx';
import { LongText, Text } from '../../ui/components/text.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { Title } from '../../ui/components/title.tsx';
import { CHANGE_PHASES, reviewersOf } from './change-parts.tsx';
import { changePath, dashboardPath, OperatorLayout, type OperatorLayoutProps, sitePath } from './layout.tsx';

type FollowUpsState = NonNullable<AgentChangeState['followUps']>;

type ChangeView = Pick<OperatorLayoutProps, 'signed'> & {
  workflowId: string;
  state: AgentChangeState;
  workflowUrl: string | undefined;
  now: Date;
};

type ChangePageProps = ChangeView & Pick<OperatorLayoutProps, 'messages'>;

const RUNNING: readonly AgentChangeState['phase'][] = ['prompting', 'working', 'notifying', 'in-review', 'revising'];

export function ChangePage({ workflowId, state, workflowUrl, now, ...layout }: ChangePageProps) {
  const { signed } = layout;
  const { site, rule } = state;
  const crumbs = [
    { label: 'Sites', href: '/' },
    { label: site, href: sitePath(site) },
    { label: rule, href: sitePath(site, 'rules', rule) },
  ];
  return (
    <OperatorLayout {...layout} title={titleOf(state)} crumbs={crumbs}>
      <Live id="change" url={`${changePath(workflowId)}/events`}>
        <ChangeParts {...{ signed, workflowId, state, workflowUrl, now }} />
      </Live>
    </OperatorLayout>
  );
}

function titleOf({ pullRequest, rule }: AgentChangeState): string {
  return pullRequest?.title ?? `A change by ${rule}`;
}

/** Everything that changes with the change's state. */
export function ChangeParts({ signed, workflowId, state, workflowUrl, now }: ChangeView) {
  const { phase, error } = state;
  return (
    <div class="stack">
      <Title
        title={<Text>{titleOf(state)}</Text>}
        beside={
          <>
            <Badge {...CHANGE_PHASES[phase]} />
            {RUNNING.includes(phase) && <LiveIndicator />}
          </>
        }
      >
        <div class="actions">
          {workflowUrl !== undefined && <a href={workflowUrl}>Workflow</a>}
          {RUNNING.includes(phase) && (
            <ActionButton action={`${changePath(workflowId)}/cancel`} csrf={signed.csrf} variant="danger">
              Cancel change
            </ActionButton>
          )}
        </div>
      </Title>
      {error !== null && <Message kind="error">{error}</Message>}
      {state.notes.map((note) => (
        <Message key={note} kind="info">
          {note}
        </Message>
      ))}
      <ChangeFacts state={state} dashboard={signed.dashboard} now={now} />
      {state.lastWords !== null && (
        <Panel title="The agent's last words">
          <LongText>{state.lastWords}</LongText>
        </Panel>
      )}
      <Mails state={state} now={now} />
      <Reviews state={state} />
    </div>
  );
}

/** What is missing can still come while the change runs. */
const yet = (what: string, isRunning: boolean) => (isRunning ? `${what} yet` : what);

function ChangeFacts({ state, dashboard, now }: { state: AgentChangeState; dashboard: boolean; now: Date }) {
  const { jobId, prLink, pullRequest, reviewRequests, followUps, nextReminderAt, expiresAt } = state;
  const isRunning = RUNNING.includes(state.phase);
  return (
    <Panel>
      <DefinitionList
        items={[
          { term: 'Agent job', value: <AgentJob jobId={jobId} dashboard={dashboard} /> },
          {
            term: 'Pull request',
            value:
              prLink === null ? yet('none', isRunning) : <PullRequestLink href={prLink} state={pullRequest?.state} />,
          },
          { term: 'Reviewers', value: reviewersOf(state).join(', ') || 'none asked' },
          ...(followUps === null
            ? []
            : [{ term: 'Follow-ups', value: <FollowUps {...followUps} isRunning={isRunning} now={now} /> }]),
          ...(isRunning
            ? [
                { term: 'Next reminder', value: <RelativeTime at={nextReminderAt} now={now} none="none" /> },
                { term: 'Expires', value: <RelativeTime at={expiresAt} now={now} /> },
              ]
            : []),
        ]}
      />
      {reviewRequests.refused.map(({ name, reason }) => (
        <p key={name} class="field-error">
          The forge rejected the reviewer <Text>{name}</Text>: <Text>{reason}</Text>
        </p>
      ))}
    </Panel>
  );
}

function AgentJob({ jobId, dashboard }: { jobId: string | null; dashboard: boolean }) {
  if (jobId === null) return <>not started</>;
  const id = <code>{jobId}</code>;
  return dashboard ? <a href={dashboardPath('agents', jobId)}>{id}</a> : id;
}

const WAITS_FOR = {
  review: 'waits for a review',
  agent: 'the agent works on the review',
  person: 'a person has to take over',
};

function FollowUps(props: FollowUpsState & { isRunning: boolean; now: Date }) {
  const { sent, max, lastReview, waitsFor, reason, isRunning, now } = props;
  return (
    <>
      {sent} of {max}
      {isRunning && `: ${WAITS_FOR[waitsFor]}`}
      {isRunning && reason !== null && (
        <>
          {' '}
          (<Text>{reason}</Text>)
        </>
      )}
      {lastReview !== null && (
        <>
          ; last review that requests changes: <Text>{lastReview.reviewer}</Text>{' '}
          <RelativeTime at={lastReview.at} now={now} />
        </>
      )}
    </>
  );
}

const MAIL_OUTCOMES: Record<MailOutcome, BadgeProps> = {
  sent: { tone: 'good', label: 'Sent' },
  unknown: { tone: 'warn', label: 'Unknown' },
  refused: { tone: 'bad', label: 'Refused' },
  unsubscribed: { tone: 'neutral', label: 'Unsubscribed' },
};

/** `review-requested` as `Review requested`. */
const asWords = (event: string) => event.charAt(0).toUpperCase() + event.slice(1).replaceAll('-', ' ');

function Mails({ state: { phase, mails }, now }: { state: AgentChangeState; now: Date }) {
  return (
    <Panel title="Mail to reviewers">
      {mails.length === 0 ? (
        <EmptyState title={yet('No mail', RUNNING.includes(phase))} />
      ) : (
        <Table
          caption="Mail to reviewers"
          rows={mails}
          keyOf={({ event, to, at }) => `${event} ${to} ${at}`}
          columns={[
            { label: 'To', cell: ({ to }) => <Text>{to}</Text> },
            { label: 'About', cell: ({ event }) => <Text>{asWords(event)}</Text> },
            {
              label: 'Result',
              cell: ({ outcome, detail }) => (
                <span class="title-line">
                  <Badge {...MAIL_OUTCOMES[outcome]} />
                  {detail !== null && (
                    <span class="soft" title={detail}>
                      <Text>{mailWords(detail)}</Text>
                    </span>
                  )}
                </span>
              ),
            },
            { label: 'When', cell: ({ at }) => <RelativeTime at={at} now={now} /> },
          ]}
        />
      )}
    </Panel>
  );
}

function Reviews({ state: { reviews } }: { state: AgentChangeState }) {
  if (reviews.length === 0) return null;
  return (
    <Panel title="Reviews">
      <ul class="plain">
        {reviews.map(({ reviewer, verdict, at }) => (
          <li key={`${reviewer} ${at}`}>
            <Text>{reviewer}</Text> <Badge {...REVIEW_VERDICTS[verdict]} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
