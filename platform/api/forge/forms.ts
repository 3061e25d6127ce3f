import type { PullRequestRow } from '../../store/pull-requests.ts';
import { type Html, html, visibleText } from './html.ts';

/** The reviewer whose link opened the page, with the link's token. */
export type ActingReviewer = { name: string; token: string };

const NAME_FIELD = html`<label>Your name <input name="reviewer" required maxlength="100" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" title="Letters, digits, dots, dashes and underscores" autocomplete="username" autocapitalize="none" spellcheck="false"></label>`;

/**
 * Forms send a token, never a cookie alone, so that another site can't act on behalf of the reader. The operator token
 * is requested each time and never stored.
 */
function tokenField(acting: ActingReviewer | undefined): Html {
  return acting === undefined
    ? html`<label>Operator token <input type="password" name="token" required autocomplete="off" spellcheck="false"></label>`
    : html`<input type="hidden" name="token" value="${acting.token}">`;
}

export function reviewForm({ id }: PullRequestRow, acting: ActingReviewer | undefined): Html {
  const who =
    acting === undefined
      ? html`<p class="lead">Reviewers: open the link in your mail.</p>
${NAME_FIELD}`
      : html`<p class="lead">You act as <bdi>${visibleText(acting.name)}</bdi>.</p>`;
  return html`<form class="panel" method="post" action="${id}/reviews">
<h3>Review</h3>
${who}
<label>Remark <textarea name="body" rows="3" maxlength="60000"></textarea></label>
${tokenField(acting)}
<div class="buttons"><button name="event" value="APPROVE">Approve</button> <button name="event" value="REQUEST_CHANGES">Ask for changes</button> <button name="event" value="COMMENT">Comment</button></div>
</form>`;
}

export function actionForms({ id, baseBranch }: PullRequestRow, acting: ActingReviewer | undefined): Html {
  return html`<form class="panel" method="post" action="${id}/merge">
<h3>Merge or close</h3>
<p class="lead">Merging adds a merge commit to <code>${baseBranch}</code>. Closing leaves the branch as it is.</p>
${tokenField(acting)}
<div class="buttons"><button class="main">Merge</button> <button formaction="${id}/close">Close without merging</button></div>
</form>`;
}
