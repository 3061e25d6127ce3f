import type { SearchAttributeUpdatePair } from '@temporalio/common';
import type { AgentChangeState } from '../../contract/agent-state.ts';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import { asText } from '../presence/as-text.ts';
import { createPresence, type Presence } from '../presence/presence.ts';
import type { ChangeRun } from './change-run.ts';
import { reminderOf } from './remind.ts';
import { expiresAtMs } from './review.ts';

/** The index that answers searches holds no longer keyword. */
const MAX_KEYWORD = 255;

/** What the Temporal UI and searches know of a change. */
export function presenceOf(run: ChangeRun): Presence {
  const { memory } = run;
  return createPresence({
    details: () => describe(run),
    attributes: () => attributesOf(run),
    // Where search attributes can't be had, pull request events find their change by this.
    memo: () => (memory.prLink === null ? null : { prLink: memory.prLink }),
  });
}

/** The answer of the query `state`. */
export function changeStateOf(run: ChangeRun): AgentChangeState {
  const { site, rule, memory } = run;
  const { phase, job, prLink, pullRequest, error, unconfigured, lastWords = null, notes } = memory;
  const { mails, reviewRequests, reviews } = memory;
  const reminder = reminderOf(run);
  return {
    site,
    rule,
    phase,
    jobId: job?.jobId ?? null,
    prLink,
    pullRequest: pullRequest === null ? null : { title: pullRequest.title, state: pullRequest.state },
    error: error ?? unconfigured,
    lastWords,
    notes,
    mails,
    reviewRequests,
    reviews,
    nextReminderAt: reminder === null ? null : timeOf(reminder.atMs),
    expiresAt: timeOf(expiresAtMs(run)),
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function attributesOf({ site, settings, memory }: ChangeRun): SearchAttributeUpdatePair[] | null {
  if (!settings.searchAttributes) return null;
  const { phase, prLink } = memory;
  return [
    { key: { name: SEARCH_ATTRIBUTES.site, type: 'KEYWORD' }, value: site },
    { key: { name: SEARCH_ATTRIBUTES.phase, type: 'KEYWORD' }, value: phase },
    ...(prLink !== null && prLink.length <= MAX_KEYWORD
      ? [{ key: { name: SEARCH_ATTRIBUTES.pullRequest, type: 'KEYWORD' }, value: prLink } as const]
      : []),
  ];
}

/** The change's story in Markdown, as the Temporal UI shows it beside the run. */
function describe(run: ChangeRun): string {
  const { phase, jobId, prLink, pullRequest, error, lastWords, notes, mails, reviews, nextReminderAt } =
    changeStateOf(run);
  const newest = run.memory.events.at(-1);
  const lines = [
    `**${asText(run.rule)}** of ${asText(run.site)}: ${phase}`,
    newest && `${run.memory.eventCount} event(s), the newest: ${asText(newest.title)}`,
    jobId && `job ${asText(jobId)}`,
    prLink &&
      `pull request ${asText(prLink)}${pullRequest ? ` (${pullRequest.state}): ${asText(pullRequest.title)}` : ''}`,
    mails.length > 0 && `mails: ${mails.map(({ event, outcome }) => `${event} ${outcome}`).join(', ')}`,
    ...reviews.map(({ reviewer, verdict }) => `${asText(reviewer)}: ${verdict}`),
    nextReminderAt && `next reminder ${nextReminderAt}`,
    error && `error: ${asText(error)}`,
    lastWords && `the agent said last: ${asText(lastWords)}`,
    ...notes.map(asText),
  ];
  return lines.filter((line) => typeof line === 'string').join('\n\n');
}
