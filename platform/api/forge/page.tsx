import { Badge } from '../../../ui/components/badge.tsx';
import { Diff } from '../../../ui/components/diff.tsx';
import { Markdown } from '../../../ui/components/markdown.tsx';
import { None } from '../../../ui/components/none.tsx';
import { Panel } from '../../../ui/components/panel.tsx';
import { PULL_REQUEST_STATES, REVIEW_VERDICTS } from '../../../ui/components/pull-request.tsx';
import { Table } from '../../../ui/components/table.tsx';
import { Text } from '../../../ui/components/text.tsx';
import { Time } from '../../../ui/components/time.tsx';
import { Title } from '../../../ui/components/title.tsx';
import { formatCount } from '../../../ui/format.ts';
import { type Crumb, Page } from '../../../ui/page.tsx';
import { PATHS, pathOf } from '../../dashboard/layout.tsx';
import type { Changes } from '../../forge/changes/read-changes.ts';
import type { Commit } from '../../forge/commits.ts';
import { AGENT_BRANCH } from '../../forge/open-pull-request.ts';
import { fullNameOf } from '../../forge/repository.ts';
import type { RequestedReviewer } from '../../store/pull-request-reviewers.ts';
import type { ReviewRow } from '../../store/pull-request-reviews.ts';
import type { PullRequestRow } from '../../store/pull-requests.ts';
import { type ActingReviewer, CloseForm, DecideForm, ReviewForm } from './forms.tsx';

type PullRequestProps = {
  row: PullRequestRow;
  asked: readonly RequestedReviewer[];
  reviews: readonly ReviewRow[];
  /** Undefined if the commits or the repository are gone. */
  changes: Changes | undefined;
  /** Undefined: actions need the operator token. */
  acting: ActingReviewer | undefined;
  asksToClose: boolean;
  /** Members can sign in. */
  canSignIn: boolean;
  /** Why the action of a form was rejected, and what was typed into it. */
  problem: { message: string; remark: string } | undefined;
  /** The way from the request's path to the page's folder. */
  root: string;
};

/** The files that are shown. */
const FILES_LISTED = 300;

export function PullRequestPage(props: PullRequestProps) {
  const { row, asked, reviews, changes, acting, asksToClose, canSignIn, problem, root } = props;
  const form = { row, acting, root };
  const isOpen = row.state === 'open';
  const member = acting !== undefined && 'csrf' in acting ? acting : undefined;
  return (
    <Page
      title={`${row.title} #${row.number}`}
      account={member && { name: member.name, href: PATHS.account }}
      crumbs={member && wayTo(row)}
      nav={[{ label: isOpen ? 'Review, merge or close' : 'Review', href: '#decide' }]}
      messages={problem === undefined ? [] : [{ kind: 'error', text: `${problem.message}.` }]}
      isStatic
    >
      <Title
        title={
          <>
            <Text>{row.title}</Text> <span class="soft">#{row.number}</span>
          </>
        }
        below={
          <p class="soft">
            <Text>{fullNameOf(row.repository)}</Text>
          </p>
        }
      />
      <p>
        <Badge {...PULL_REQUEST_STATES[row.state]} /> <Lead row={row} commitCount={changes?.commitCount} />
      </p>
      <Panel title="Description">
        {row.body === '' ? <p class="soft">There is none.</p> : <Markdown>{row.body}</Markdown>}
      </Panel>
      <Reviews asked={asked} reviews={reviews} />
      {changes === undefined ? (
        <Panel title="Changes">
          <p class="soft">The repository, or these commits, are no longer there.</p>
        </Panel>
      ) : (
        <ChangesPanels changes={changes} row={row} />
      )}
      <Panel id="decide" title={isOpen ? 'Decide' : 'Review'}>
        <div class="columns">
          <ReviewForm {...form} canSignIn={canSignIn} remark={problem?.remark ?? ''} />
          {isOpen && (asksToClose ? <CloseForm {...form} /> : <DecideForm {...form} />)}
        </div>
      </Panel>
    </Page>
  );
}

/** The dashboard's pages above this one. */
function wayTo({ headBranch }: PullRequestRow): Crumb[] {
  const job = AGENT_BRANCH.exec(headBranch)?.[1];
  const own = job === undefined ? [] : [{ label: job, href: pathOf('agents', job) }];
  return [{ label: 'Agent jobs', href: PATHS.agents }, ...own];
}

type LeadProps = { row: PullRequestRow; commitCount: number | undefined };

const STATE_ENDINGS = { open: ', opened ', closed: '; closed without merging ', merged: ' ' } as const;

function Lead({ row: { state, author, baseBranch, headBranch, ...row }, commitCount }: LeadProps) {
  const commits = commitCount === undefined ? 'its commits' : formatCount(commitCount, 'commit');
  const by = <Text>{author}</Text>;
  const asks = state === 'open' ? ' asks to merge ' : ' asked to merge ';
  return (
    <>
      {state === 'merged' ? [commits, ' of ', by, ' merged'] : [by, asks, commits]} into <code>{baseBranch}</code> from{' '}
      <code>{headBranch}</code>
      {STATE_ENDINGS[state]}
      {row.endedBy !== null && ['by ', <Text key="by">{row.endedBy}</Text>, ' ']}
      <Time at={state === 'open' ? row.createdAt : row.endedAt} />
      {row.mergeCommitSha !== null && [' as ', <Sha key="sha">{row.mergeCommitSha}</Sha>]}
    </>
  );
}

function Sha({ children }: { children: string }) {
  return (
    <code class="soft" title={children}>
      {children.slice(0, 10)}
    </code>
  );
}

/** A review, or who was asked for one and hasn't reviewed yet. */
type ReviewLine = { key: string; who: string; prefix: string; review: ReviewRow | undefined };

function Reviews({ asked, reviews }: Pick<PullRequestProps, 'asked' | 'reviews'>) {
  const reviewers = new Set(reviews.map((review) => review.reviewer));
  const waiting = asked.filter(({ kind, name }) => kind === 'team' || (kind === 'user' && !reviewers.has(name)));
  const lines: ReviewLine[] = [
    ...reviews.map((review) => ({ key: `review-${review.id}`, who: review.reviewer, prefix: '', review })),
    ...waiting.map(({ kind, name }) => ({
      ...{ key: `${kind} ${name}`, who: name, prefix: kind === 'team' ? 'team ' : '' },
      review: undefined,
    })),
  ];
  if (lines.length === 0) return null;
  return (
    <Panel title="Reviews">
      <Table
        caption="Reviews"
        rows={lines}
        keyOf={({ key }) => key}
        columns={[
          { label: 'Reviewer', kind: 'main', cell: ReviewCell },
          { label: 'Commit', cell: ({ review }) => (review === undefined ? <None /> : <Sha>{review.commitSha}</Sha>) },
          { label: 'When', cell: ({ review }) => <Time at={review?.submittedAt} /> },
        ]}
      />
    </Panel>
  );
}

function ReviewCell({ key, who, prefix, review }: ReviewLine) {
  return (
    <>
      <span id={review && key}>
        {prefix}
        <Text>{who}</Text>{' '}
        {review === undefined ? (
          <span class="soft">is asked for a review</span>
        ) : (
          <Badge {...REVIEW_VERDICTS[review.verdict]} />
        )}
      </span>
      {review !== undefined && review.body !== '' && <Markdown>{review.body}</Markdown>}
    </>
  );
}

function ChangesPanels({ changes, row }: { changes: Changes; row: PullRequestRow }) {
  const { commits, commitCount, files } = changes;
  const left = commitCount - commits.length;
  const unlisted = files.length - FILES_LISTED;
  return (
    <>
      <Panel title="Commits" aside={<span class="soft">{commitCount}</span>}>
        {left > 0 && <p class="soft">{left} older commits are not listed.</p>}
        <CommitTable commits={commits.toReversed()} />
      </Panel>
      <Panel title="Files changed" aside={<span class="soft">{files.length}</span>}>
        {unlisted > 0 && <p class="soft">{unlisted} more files are not listed.</p>}
        <Diff files={files.slice(0, FILES_LISTED)} />
        <p class="soft small">
          The whole, on a disk that has the repository:{' '}
          <code>
            git diff {row.baseSha.slice(0, 10)}...{row.headSha.slice(0, 10)}
          </code>
        </p>
      </Panel>
    </>
  );
}

function CommitTable({ commits }: { commits: readonly Commit[] }) {
  return (
    <Table
      caption="Commits"
      rows={commits}
      keyOf={({ sha }) => sha}
      columns={[
        { label: 'Commit', kind: 'main', cell: ({ message }) => <Text>{message.split('\n', 1)[0] ?? ''}</Text> },
        { label: 'Author', cell: ({ author }) => <Text>{author.name}</Text> },
        { label: 'When', cell: ({ at }) => <Time at={at} none="unknown" /> },
        { label: 'SHA', cell: ({ sha }) => <Sha>{sha}</Sha> },
      ]}
    />
  );
}
