import type { PullRequestRow } from '../../store/pull-requests.ts';
import { type Html, html } from './html.ts';

/**
 * The token is asked for each time and never kept: no cookie is set, so no other site can act for whoever reads here.
 */
function tokenField(): Html {
  return html`<label>Operator token <input type="password" name="token" required autocomplete="off" spellcheck="false"></label>`;
}

export function reviewForm({ id }: PullRequestRow): Html {
  return html`<form class="panel" method="post" action="${id}/reviews">
<h3>Review</h3>
<label>Your name <input name="reviewer" required maxlength="100" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" title="Letters, digits, dots, dashes and underscores" autocomplete="username" autocapitalize="none" spellcheck="false"></label>
<label>Remark <textarea name="body" rows="3" maxlength="60000"></textarea></label>
${tokenField()}
<div class="buttons"><button name="event" value="APPROVE">Approve</button> <button name="event" value="REQUEST_CHANGES">Ask for changes</button> <button name="event" value="COMMENT">Comment</button></div>
</form>`;
}

export function actionForms({ id, baseBranch }: PullRequestRow): Html {
  return html`<form class="panel" method="post" action="${id}/merge">
<h3>Merge or close</h3>
<p class="lead">Merging adds a merge commit to <code>${baseBranch}</code>. Closing leaves the branch as it is.</p>
${tokenField()}
<div class="buttons"><button class="main">Merge</button> <button formaction="${id}/close">Close without merging</button></div>
</form>`;
}
