import { visibleText } from '../../../ui/visible-text.ts';
import type { PullRequestRow } from '../../store/pull-requests.ts';
import { type Html, html } from './html.ts';

/** The reviewer whose link opened the page, with the link's token; or a signed-in member, with the CSRF token. */
export type ActingReviewer = { name: string; token: string } | { name: string; csrf: string };

/** How the page's forms are sent, and what they are filled with. */
export type FormState = {
  acting: ActingReviewer | undefined;
  /** Members can sign in. */
  canSignIn: boolean;
  /** Before each path: the page itself may answer a form. */
  root: string;
  /** What was typed before. */
  remark: string;
};

const NAME_FIELD = html`<label>Your name <input name="reviewer" required maxlength="100" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" title="Letters, digits, dots, dashes and underscores" autocomplete="username" autocapitalize="none" spellcheck="false"></label>`;

/**
 * Forms send a token, never a cookie alone, so that another site can't act on behalf of the reader. The operator token
 * is requested each time and never stored.
 */
function tokenField(acting: ActingReviewer | undefined): Html {
  if (acting === undefined) {
    return html`<label>Operator token <input type="password" name="token" required autocomplete="off" spellcheck="false"></label>`;
  }
  return 'token' in acting
    ? html`<input type="hidden" name="token" value="${acting.token}">`
    : html`<input type="hidden" name="csrf" value="${acting.csrf}">`;
}

/** What is decided about: commits that were pushed after the page was loaded are not. */
function headField({ headSha }: PullRequestRow): Html {
  return html`<input type="hidden" name="head" value="${headSha}">`;
}

export function reviewForm(row: PullRequestRow, { acting, canSignIn, root, remark }: FormState): Html {
  const { id, state } = row;
  const signIn = canSignIn ? html`, or <a href="/ui/sign-in?to=/pulls/${id}">sign in</a>` : null;
  const decisions =
    state === 'open'
      ? html`<button name="event" value="APPROVE">Approve</button> <button name="event" value="REQUEST_CHANGES">Ask for changes</button>`
      : null;
  const who =
    acting === undefined
      ? html`<p class="lead">Reviewers: open the link in your mail${signIn}.</p>
${NAME_FIELD}`
      : html`<p class="lead">You act as <bdi>${visibleText(acting.name)}</bdi>.</p>`;
  return html`<form class="panel" method="post" action="${root}${id}/reviews">
<h3>Review</h3>
${who}
<label>Remark <textarea name="body" rows="3" maxlength="60000">${remark}</textarea></label>
${tokenField(acting)}${headField(row)}
<div class="buttons">${decisions} <button name="event" value="COMMENT">Comment</button></div>
</form>`;
}

export function actionForms(row: PullRequestRow, { acting, root }: FormState): Html {
  const { id, baseBranch } = row;
  return html`<form class="panel" method="post" action="${root}${id}/merge">
<h3>Merge or close</h3>
<p class="lead">Merging adds a merge commit to <code>${baseBranch}</code>. Closing leaves the branch as it is.</p>
${tokenField(acting)}${headField(row)}
<div class="buttons"><button class="main">Merge</button> <button formaction="${root}${id}/close">Close without merging</button></div>
</form>`;
}
