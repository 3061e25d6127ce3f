import { condition, setCurrentDetails, upsertMemo, upsertSearchAttributes } from '@temporalio/workflow';
import type { AgentChangeState } from '../../contract/agent-state.ts';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import { asText } from '../presence/as-text.ts';
import type { ChangeRun } from './change-run.ts';
import { reminderOf } from './remind.ts';
import { expiresAtMs } from './review.ts';

/** The index that answers searches holds no longer keyword. */
const MAX_KEYWORD = 255;

export type Presence = {
  /** Keeps what the Temporal UI and searches know of the change in step with its state. */
  show: () => Promise<void>;
  /** The same for the last state, which nobody waits for. */
  update: () => void;
};

export function createPresence(run: ChangeRun): Presence {
  let details = '';
  let attributes = '';
  let memo: string | null = null;

  function update(): void {
    const { memory, settings, site } = run;
    details = describe(run);
    setCurrentDetails(details);
    if (memory.prLink !== memo) {
      memo = memory.prLink;
      // Where search attributes can't be had, pull request events find their change by this.
      upsertMemo({ prLink: memory.prLink });
    }
    if (attributeKey(run) === attributes) return;
    attributes = attributeKey(run);
    // Unknown attributes would fail the workflow task, so they are only written where they were found usable.
    if (!settings.searchAttributes) return;
    const { phase, pullRequest, site: siteName } = SEARCH_ATTRIBUTES;
    upsertSearchAttributes([
      { key: { name: siteName, type: 'KEYWORD' }, value: site },
      { key: { name: phase, type: 'KEYWORD' }, value: memory.phase },
      ...(memory.prLink !== null && memory.prLink.length <= MAX_KEYWORD
        ? [{ key: { name: pullRequest, type: 'KEYWORD' }, value: memory.prLink } as const]
        : []),
    ]);
  }

  return {
    async show() {
      for (;;) {
        await condition(() => describe(run) !== details || attributeKey(run) !== attributes);
        update();
      }
    },
    update,
  };
}

/** The answer of the query `state`. */
export function changeStateOf(run: ChangeRun): AgentChangeState {
  const { site, rule, memory } = run;
  const { phase, job, prLink, pullRequest, error, notes, mails, reviewRequests, reviews } = memory;
  const reminder = reminderOf(run);
  return {
    site,
    rule,
    phase,
    jobId: job?.jobId ?? null,
    prLink,
    pullRequest: pullRequest === null ? null : { title: pullRequest.title, state: pullRequest.state },
    error,
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

function attributeKey({ settings, memory }: ChangeRun): string {
  return `${settings.searchAttributes} ${memory.phase} ${memory.prLink}`;
}

/** The change's story in Markdown, as the Temporal UI shows it beside the run. */
function describe(run: ChangeRun): string {
  const { phase, jobId, prLink, pullRequest, error, notes, mails, reviews, nextReminderAt } = changeStateOf(run);
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
    ...notes.map(asText),
  ];
  return lines.filter((line) => typeof line === 'string').join('\n\n');
}
