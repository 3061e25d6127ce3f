import { visibleText } from '../../../ui/visible-text.ts';
import type { Changes } from '../../forge/changes/read-changes.ts';
import type { Commit } from '../../forge/commits.ts';
import { fullNameOf } from '../../forge/repository.ts';
import type { RequestedReviewer } from '../../store/pull-request-reviewers.ts';
import type { ReviewRow } from '../../store/pull-request-reviews.ts';
import type { PullRequestRow } from '../../store/pull-requests.ts';
import { diffView } from './diff-view.ts';
import { type ActingReviewer, actionForms, reviewForm } from './forms.ts';
import { type Html, html } from './html.ts';
import { renderMarkdown } from './markdown.ts';

type PageContent = {
  row: PullRequestRow;
  asked: readonly RequestedReviewer[];
  reviews: readonly ReviewRow[];
  /** Undefined if the commits or the repository are gone. */
  changes: Changes | undefined;
  /** Undefined: actions need the operator token. */
  acting: ActingReviewer | undefined;
  /** Members can sign in. */
  canSignIn: boolean;
  /** Why the action of a form was rejected, and what was typed into it. */
  problem: { message: string; remark: string } | undefined;
  /** The way from the request's path to the page's folder. */
  root: string;
};

/** The files that are shown. */
const FILES_LISTED = 300;

/** A pull request's page. All texts are escaped, with hidden and direction characters made visible. */
export function pullRequestPage(content: PageContent): string {
  const { row, changes, acting, canSignIn, problem, root } = content;
  const form = { acting, canSignIn, root, remark: visibleText(problem?.remark ?? '', { multiline: true }) };
  const title = visibleText(row.title);
  const rejected = problem && html`<p class="problem" role="alert">${problem.message}.</p>`;
  const body = html`${rejected ?? null}<h1><bdi>${title}</bdi> <span class="number">#${row.number}</span></h1>
<p class="lead"><span class="badge ${row.state}">${STATES[row.state]}</span> ${leadOf(content)}</p>
<h2>Description</h2>
${descriptionOf(row)}
${reviewsOf(content)}
${changes === undefined ? missing() : changesOf(changes, row)}
${html`<h2 id="decide">${row.state === 'open' ? 'Decide' : 'Review'}</h2>
<div class="acts">${reviewForm(row, form)}${row.state === 'open' ? actionForms(row, form) : null}</div>`}`;
  return pageOf({
    title: `${title} #${row.number}`,
    heading: html`<bdi>${visibleText(fullNameOf(row.repository))}</bdi> <a href="#decide">${row.state === 'open' ? 'Review, merge or close' : 'Review'}</a>`,
    style: `${root}style.css`,
    body,
  });
}

const STATES = { open: 'Open', merged: 'Merged', closed: 'Closed' } as const;

type Page = {
  title: string;
  heading: Html;
  /** Relative to the page. */
  style: string;
  body: Html;
};

export function pageOf({ title, heading, style, body }: Page): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<link rel="stylesheet" href="${style}">
</head>
<body>
<header>${heading}</header>
<main>
${body}
</main>
</body>
</html>
`;
  return page.markup;
}

function leadOf({ row, changes }: PageContent): Html {
  const branches = html`into <code>${visibleText(row.baseBranch)}</code> from <code>${visibleText(row.headBranch)}</code>`;
  const count = changes?.commitCount;
  const commits = count === undefined ? 'its commits' : count === 1 ? '1 commit' : `${count} commits`;
  const by = visibleText(row.author);
  if (row.state === 'open') return html`${by} asks to merge ${commits} ${branches}, opened ${timeOf(row.createdAt)}`;
  const at = row.endedAt === null ? null : timeOf(row.endedAt);
  const ended = row.endedBy === null ? at : html`by <bdi>${visibleText(row.endedBy)}</bdi> ${at}`;
  if (row.state === 'closed') return html`${by} asked to merge ${commits} ${branches}; closed without merging ${ended}`;
  return html`${commits} of ${by} merged ${branches} ${ended} as <span class="sha">${row.mergeCommitSha?.slice(0, 10) ?? ''}</span>`;
}

function descriptionOf({ body }: PullRequestRow): Html {
  if (body === '') return html`<p class="soft">There is none.</p>`;
  return html`<div class="panel text">${renderMarkdown(body)}</div>`;
}

const VERDICTS = {
  approved: 'approved',
  'changes-requested': 'asks for changes',
  commented: 'commented',
} as const;

function reviewsOf({ asked, reviews }: PageContent): Html | null {
  const reviewers = new Set(reviews.map((review) => review.reviewer));
  const waiting = asked.filter(({ kind, name }) => kind === 'team' || (kind === 'user' && !reviewers.has(name)));
  if (waiting.length === 0 && reviews.length === 0) return null;
  const rows = [
    ...reviews.map((review) => {
      const words = review.body === '' ? null : html`<div class="text">${renderMarkdown(review.body)}</div>`;
      return html`<li id="review-${review.id}"><div><bdi>${visibleText(review.reviewer)}</bdi> <strong class="verdict-${review.verdict}">${VERDICTS[review.verdict]}</strong>${words}</div>
<span class="sha">${review.commitSha.slice(0, 10)}</span> ${timeOf(review.submittedAt)}</li>`;
    }),
    ...waiting.map(({ kind, name }) => {
      const whose = kind === 'team' ? 'team ' : '';
      return html`<li><div>${whose}<bdi>${visibleText(name)}</bdi> <span class="soft">is asked for a review</span></div></li>`;
    }),
  ];
  return html`<h2>Reviews</h2>
<div class="panel"><ul class="plain rows">${rows}</ul></div>`;
}

function missing(): Html {
  return html`<h2>Changes</h2>
<p class="soft">The repository, or these commits, are no longer there.</p>`;
}

function changesOf({ commits, commitCount, files }: Changes, row: PullRequestRow): Html {
  const left = commitCount - commits.length;
  const range = `${row.baseSha.slice(0, 10)}...${row.headSha.slice(0, 10)}`;
  const unlisted = files.length - FILES_LISTED;
  return html`<h2>Commits <span class="count">${commitCount}</span></h2>
${left > 0 ? html`<p class="note">${left} older commits are not listed.</p>` : null}
<div class="panel"><ul class="plain rows">${commits.toReversed().map(commitOf)}</ul></div>
<h2>Files changed <span class="count">${files.length}</span></h2>
${unlisted > 0 ? html`<p class="note">${unlisted} more files are not listed.</p>` : null}
${diffView(files.slice(0, FILES_LISTED))}
<p class="note">The whole, on a disk that has the repository: <code>git diff ${range}</code></p>`;
}

function commitOf({ sha, message, author, at }: Commit): Html {
  const [subject = ''] = message.split('\n', 1);
  return html`<li><bdi>${visibleText(subject)}</bdi> <span class="by"><bdi>${visibleText(author.name)}</bdi></span> ${timeOf(new Date(at))} <span class="sha" title="${sha}">${sha.slice(0, 10)}</span></li>`;
}

/** Without a script, the reader's time zone is unknown. */
function timeOf(at: Date): Html {
  if (Number.isNaN(at.getTime())) return html`<time>unknown</time>`;
  const iso = at.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`;
}
