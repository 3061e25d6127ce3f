import { agentJobStatus, jobWord } from '../../../contract/admin-api.ts';
import { Badge } from '../../../ui/components/badge.tsx';
import { CodeBlock } from '../../../ui/components/code.tsx';
import { DefinitionList } from '../../../ui/components/definition-list.tsx';
import { Diff } from '../../../ui/components/diff.tsx';
import { EmptyState } from '../../../ui/components/empty-state.tsx';
import { Button, ButtonLink, Field, Form, Select } from '../../../ui/components/form.tsx';
import { Live, LiveIndicator } from '../../../ui/components/live.tsx';
import { Message } from '../../../ui/components/message.tsx';
import { None } from '../../../ui/components/none.tsx';
import { Pager } from '../../../ui/components/pager.tsx';
import { Panel } from '../../../ui/components/panel.tsx';
import { PULL_REQUEST_STATES, PullRequestLink, REVIEW_VERDICTS } from '../../../ui/components/pull-request.tsx';
import { Table } from '../../../ui/components/table.tsx';
import { LongText, Text } from '../../../ui/components/text.tsx';
import { RelativeTime } from '../../../ui/components/time.tsx';
import { Title } from '../../../ui/components/title.tsx';
import { formatCount } from '../../../ui/format.ts';
import { listPath } from '../../../web/list-path.ts';
import { withoutCredentials } from '../../api/agent/agent-job-view.ts';
import type { AgentJobRow } from '../../store/agent-jobs.ts';
import type { Project } from '../../store/projects.ts';
import type { PullRequestRow } from '../../store/pull-requests.ts';
import type { SignedMember } from '../access.ts';
import { MemberLayout, type MemberLayoutProps, PATHS, pathOf, pathThere, WorkflowLink } from '../layout.tsx';
import { badgeOf, statusOptions } from '../statuses.ts';
import type { AgentFacts, PullRequestFacts, TitledJob } from './agent-facts.ts';

type Shared = Pick<MemberLayoutProps, 'signed' | 'messages'>;

const ANY = { value: '', label: 'Any' };

/** A page stays below 100 kB: longer prompts and diffs are cut here, and whole in the API and on the pull request. */
const SHOWN_PROMPT = 8_000;
const SHOWN_PROMPTS = 3;
const SHOWN_FILES = 20;
const SHOWN_LINES = 120;

type ListProps = {
  /** One more than the page holds if there is another page. */
  rows: readonly TitledJob[];
  pageSize: number;
  query: { project: string; status: string };
  /** Empty on the first page. */
  cursor: string;
  now: Date;
};

type ListPageProps = Shared & { shown: ListProps; projects: readonly Project[] };

export function AgentsPage({ shown, projects, ...layout }: ListPageProps) {
  const { signed } = layout;
  const { query, cursor } = shown;
  const options = projects.map(({ id, domain }) => ({ value: id, label: domain }));
  const withRepository = projects.flatMap(({ id, domain, repository }) =>
    repository === null ? [] : [{ value: id, label: domain }],
  );
  return (
    <MemberLayout {...layout} section="agents" title="Agent jobs">
      <Title title="Agent jobs" beside={<LiveIndicator />}>
        <search>
          <Form action={PATHS.agents} inline>
            <Select label="Project" name="project" value={query.project} options={[ANY, ...options]} />
            <Select label="Status" name="status" value={query.status} options={statusOptions(agentJobStatus.options)} />
            <Button icon="search">Filter</Button>
          </Form>
        </search>
      </Title>
      <Live id="agents" url={listPath(`${PATHS.agents}/events`, { ...query, cursor })}>
        <AgentList {...shown} />
      </Live>
      {signed.membership.role !== 'reviewer' && withRepository.length > 0 && (
        <Panel title="Ask an agent">
          <Form action={PATHS.agents} csrf={signed.csrf}>
            <Select label="Project" name="project" value={query.project} options={withRepository} />
            <Field label="Prompt" name="prompt" rows={4} maxLength={100_000} required />
            <Button variant="primary">Create job</Button>
          </Form>
        </Panel>
      )}
    </MemberLayout>
  );
}

export function AgentList({ rows, pageSize, query, cursor, now }: ListProps) {
  const shown = rows.slice(0, pageSize);
  const last = rows.length > pageSize ? shown.at(-1) : undefined;
  const href = (to: string) => listPath(PATHS.agents, { ...query, cursor: to });
  return (
    <>
      <Panel>
        {shown.length === 0 ? <EmptyState title="No agent jobs here" /> : <AgentTable rows={shown} now={now} />}
      </Panel>
      {(last !== undefined || cursor !== '') && (
        <Pager
          summary={formatCount(shown.length, 'job')}
          firstHref={cursor === '' ? undefined : href('')}
          nextHref={last && href(String(last.sequence))}
        />
      )}
    </>
  );
}

export function AgentTable({ rows, now }: { rows: readonly TitledJob[]; now: Date }) {
  return (
    <Table
      caption="Agent jobs"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          label: 'Job',
          kind: 'main',
          cell: ({ id, title }) => (
            <>
              <a href={pathOf('agents', id)}>
                <Text>{title}</Text>
              </a>
              <div class="soft small">
                <code>{id}</code>
              </div>
            </>
          ),
        },
        { label: 'Status', cell: (job) => <Badge {...badgeOf(job)} /> },
        { label: 'Project', cell: ({ projectId }) => <a href={pathOf('projects', projectId)}>{projectId}</a> },
        {
          label: 'Pull request',
          cell: ({ prLink, pullRequestState }) => <PullRequest prLink={prLink} state={pullRequestState} />,
        },
        { label: 'Runs', kind: 'number', cell: ({ run }) => run },
        { label: 'Created', cell: ({ createdAt }) => <RelativeTime at={createdAt} now={now} /> },
      ]}
    />
  );
}

function PullRequest({ prLink, state }: { prLink: string | null; state: PullRequestRow['state'] | undefined }) {
  return prLink === null ? <None /> : <PullRequestLink href={prLink} state={state} />;
}

export function AgentPage({ facts, ...layout }: Shared & { facts: AgentFacts }) {
  const { id, status } = facts.job;
  const { signed } = layout;
  const parts = <AgentParts signed={signed} facts={facts} />;
  return (
    <MemberLayout {...layout} section="agents" title={id} crumbs={[{ label: 'Agent jobs', href: PATHS.agents }]}>
      {status === 'active' ? (
        <Live id="agent" url={pathOf('agents', id, 'events')}>
          {parts}
        </Live>
      ) : (
        parts
      )}
    </MemberLayout>
  );
}

/** Everything that changes while the job runs. */
export function AgentParts({ signed, facts }: { signed: SignedMember; facts: AgentFacts }) {
  const { job, prompts, log, pullRequest, there, now } = facts;
  const { ref } = job;
  const first = Math.max(0, prompts.length - SHOWN_PROMPTS);
  return (
    <div class="stack">
      <Title
        title={job.id}
        beside={
          <>
            <Badge {...badgeOf(job)} />
            {job.status === 'active' && <LiveIndicator />}
          </>
        }
        below={
          <div class="title-line">
            {there && <a href={pathThere('sites', there.site)}>Site {there.site}</a>}
            {there?.change && <a href={pathThere('changes', there.change)}>Agent change</a>}
            <WorkflowLink signed={signed} id={job.id} />
          </div>
        }
      >
        {signed.membership.role !== 'reviewer' && <Actions job={job} />}
      </Title>
      {job.error !== null && jobWord(job) !== 'canceled' && (
        <Message kind="error">
          <Text>{job.error}</Text>
        </Message>
      )}
      <Panel>
        <DefinitionList
          items={[
            { term: 'Project', value: <a href={pathOf('projects', job.projectId)}>{job.projectId}</a> },
            { term: 'Repository', value: <Text>{withoutCredentials(job.repository)}</Text> },
            { term: 'Branch', value: <Text>{ref === null ? 'the default' : ref}</Text> },
            { term: 'Model', value: <Text>{job.model}</Text> },
            { term: 'Created', value: <RelativeTime at={job.createdAt} now={now} /> },
            { term: 'Changed', value: <RelativeTime at={job.updatedAt} now={now} /> },
            { term: 'Pull request', value: <PullRequest prLink={job.prLink} state={pullRequest?.row.state} /> },
          ]}
        />
      </Panel>
      <Panel title={prompts.length === 1 ? 'Prompt' : 'Prompts'}>
        {first > 0 && <p class="soft small">{formatCount(first, 'earlier prompt')} not shown.</p>}
        {prompts.slice(first).map((prompt, index) => (
          <div key={first + index}>
            {prompts.length > 1 && <p class="soft small">Run {first + index + 1}</p>}
            <LongText>{prompt.length > SHOWN_PROMPT ? `${prompt.slice(0, SHOWN_PROMPT)}…` : prompt}</LongText>
          </div>
        ))}
      </Panel>
      <Panel title="Log">
        {log.isCut && <p class="soft small">Its end: the API has the whole log.</p>}
        {log.text === '' ? <EmptyState title="Nothing printed yet" /> : <CodeBlock>{log.text}</CodeBlock>}
      </Panel>
      {pullRequest !== null && <PullRequestPanel facts={pullRequest} now={now} />}
      {signed.membership.role !== 'reviewer' && <MessageForm job={job} csrf={signed.csrf} />}
    </div>
  );
}

function Actions({ job: { id, status } }: { job: AgentJobRow }) {
  if (status === 'archived') return null;
  return (
    <div class="actions">
      {status === 'active' ? (
        <ButtonLink href={pathOf('agents', id, 'cancel')} icon="x" variant="danger">
          Cancel
        </ButtonLink>
      ) : (
        <ButtonLink href={pathOf('agents', id, 'archive')}>Archive</ButtonLink>
      )}
    </div>
  );
}

function MessageForm({ job: { id, status }, csrf }: { job: AgentJobRow; csrf: string }) {
  if (status !== 'completed' && status !== 'failed') return null;
  return (
    <Panel title="Follow-up message">
      <Form action={pathOf('agents', id, 'message')} csrf={csrf}>
        <Field label="Message" name="prompt" rows={3} maxLength={100_000} required />
        <Button variant="primary">Send</Button>
      </Form>
    </Panel>
  );
}

function PullRequestPanel({ facts: { row, changes, asked, reviews }, now }: { facts: PullRequestFacts; now: Date }) {
  const files = changes?.files ?? [];
  const shown = files.slice(0, SHOWN_FILES).map((file) => {
    const hunks = file.patch?.hunks.slice(0, 5).map((hunk) => ({ ...hunk, lines: hunk.lines.slice(0, SHOWN_LINES) }));
    return { ...file, patch: hunks === undefined ? null : { hunks } };
  });
  return (
    <>
      <Panel
        title={
          <a href={`/pulls/${row.id}`}>
            <Text>{row.title}</Text> #{row.number}
          </a>
        }
        aside={<Badge {...PULL_REQUEST_STATES[row.state]} />}
      >
        <h3>Notified</h3>
        {asked.length + reviews.length === 0 && <p class="soft">No reviewers requested yet.</p>}
        <ul class="plain">
          {asked.map(({ kind, name }) => (
            <li key={`${kind} ${name}`}>
              {kind === 'team' && 'team '}
              <Text>{name}</Text> <span class="soft">was asked for a review{kind === 'mail' && ' by mail'}</span>
            </li>
          ))}
          {reviews.map(({ id, reviewer, verdict, submittedAt }) => (
            <li key={id}>
              <Text>{reviewer}</Text> <Badge {...REVIEW_VERDICTS[verdict]} />{' '}
              <span class="soft">
                <RelativeTime at={submittedAt} now={now} />
              </span>
            </li>
          ))}
        </ul>
      </Panel>
      {changes !== undefined && (
        <Panel title={`Files changed (${files.length})`}>
          <Diff files={shown} />
        </Panel>
      )}
    </>
  );
}
