import type { SearchAttributeUpdatePair } from '@temporalio/common';
import type { AgentChangePhase, AgentChangeState } from '../../contract/agent-state.ts';
import { escapeMarkdown, markdownLink, paragraphs } from '../../contract/details-markdown.ts';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import { createVisibility, type Visibility } from '../entity/visibility.ts';
import { expiresAtMs, reminderOf } from './schedule.ts';
import type { ChangeRun } from './state.ts';

/** Longer keywords are not indexed. */
const MAX_KEYWORD = 255;

/** The current details, search attributes and memo. */
export function visibilityOf(run: ChangeRun): Visibility {
  const { state } = run;
  return createVisibility({
    details: () => details(run),
    attributes: () => attributesOf(run),
    // Without search attributes, events of the pull request find their change by the memo.
    memo: () => (state.prLink === null ? null : { prLink: state.prLink }),
  });
}

/** The result of the query `state`. */
export function changeStateOf(run: ChangeRun): AgentChangeState {
  const { site, rule, state } = run;
  const { job, prLink, pullRequest, error, unconfigured, lastWords, notes } = state;
  const { mails, reviewRequests, reviews } = state;
  const reminder = reminderOf(run);
  return {
    site,
    rule,
    phase: phaseOf(run),
    jobId: job?.jobId ?? null,
    prLink,
    pullRequest: pullRequest === null ? null : { title: pullRequest.title, state: pullRequest.state },
    error: error ?? unconfigured,
    lastWords,
    notes,
    mails,
    reviewRequests,
    reviews,
    followUps: followUpsOf(run),
    nextReminderAt: reminder === null ? null : timeOf(reminder.atMs),
    expiresAt: timeOf(expiresAtMs(run)),
  };
}

/** In review, an agent that works on a follow-up has a phase of its own. */
function phaseOf({ state: { phase, followUps } }: ChangeRun): AgentChangePhase {
  return phase === 'in-review' && followUps.current?.sentAtMs ? 'revising' : phase;
}

function followUpsOf({ state: { followUps }, settings }: ChangeRun): AgentChangeState['followUps'] {
  if (settings.followUps === undefined) return null;
  const { last, current, person, sent } = followUps;
  return {
    sent,
    max: settings.followUps.max,
    lastReview: last && { id: last.id, reviewer: last.reviewer, at: last.at },
    waitsFor: current !== null ? 'agent' : person !== null ? 'person' : 'review',
    reason: current === null ? person : null,
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function attributesOf(run: ChangeRun): SearchAttributeUpdatePair[] | null {
  const { site, settings, state } = run;
  if (!settings.searchAttributes) return null;
  const { prLink } = state;
  return [
    { key: { name: SEARCH_ATTRIBUTES.site, type: 'KEYWORD' }, value: site },
    { key: { name: SEARCH_ATTRIBUTES.phase, type: 'KEYWORD' }, value: phaseOf(run) },
    ...(prLink !== null && prLink.length <= MAX_KEYWORD
      ? [{ key: { name: SEARCH_ATTRIBUTES.pullRequest, type: 'KEYWORD' }, value: prLink } as const]
      : []),
  ];
}

function details(run: ChangeRun): string {
  const { phase, jobId, prLink, pullRequest, error, lastWords, notes, mails, reviews, followUps, nextReminderAt } =
    changeStateOf(run);
  const newest = run.state.events.at(-1);
  const title = pullRequest ? ` (${pullRequest.state}): ${escapeMarkdown(pullRequest.title)}` : '';
  return paragraphs([
    `**${escapeMarkdown(run.rule)}** of ${escapeMarkdown(run.site)}: ${phase}`,
    newest && `${run.state.eventCount} event(s), the newest: ${escapeMarkdown(newest.title)}`,
    jobId && `job ${escapeMarkdown(jobId)}`,
    prLink && `${markdownLink('Pull request', prLink)}${title}`,
    mails.length > 0 && `mails: ${mails.map(({ event, outcome }) => `${event} ${outcome}`).join(', ')}`,
    ...reviews.map(({ reviewer, verdict }) => `${escapeMarkdown(reviewer)}: ${verdict}`),
    followUps &&
      `follow-ups: ${followUps.sent} of ${followUps.max}, waits for the ${followUps.waitsFor}${followUps.reason ? `: ${escapeMarkdown(followUps.reason)}` : ''}`,
    followUps?.lastReview &&
      `last review that requests changes: ${followUps.lastReview.id} by ${escapeMarkdown(followUps.lastReview.reviewer)}`,
    nextReminderAt && `next reminder ${nextReminderAt}`,
    error && `error: ${escapeMarkdown(error)}`,
    lastWords && `the agent said last: ${escapeMarkdown(lastWords)}`,
    ...notes.map(escapeMarkdown),
  ]);
}
