import { defineQuery, defineSignal, defineUpdate, log, setHandler } from '@temporalio/workflow';
import { z } from 'zod';
import {
  type AgentRuleState,
  type ChangeEnded,
  changeEnded as changeEndedPayload,
} from '../../contract/agent-state.ts';
import { QUERIES, SIGNALS, UPDATES } from '../../contract/names.ts';
import { type PublishedSignal, publishedSignal } from '../../contract/publish-event.ts';
import { noteChangeEnd, noteOwnMerge, noteUnsubscribed, takeIn } from './intake.ts';
import { ruleStateOf } from './presence.ts';
import type { RuleRun } from './rule-run.ts';

const ownMergeSignal = z.object({ sha: z.string().min(1).max(200) });
const unsubscribedSignal = z.object({ address: z.string() });

export const published = defineSignal<[PublishedSignal]>(SIGNALS.published);
export const configChanged = defineSignal(SIGNALS.configChanged);
/** A pull request of this rule was merged by this commit: the push of it prompts nothing. */
export const ownMerge = defineSignal<[z.infer<typeof ownMergeSignal>]>(SIGNALS.ownMerge);
/** A change of this rule is over. */
export const changeEnded = defineSignal<[ChangeEnded]>(SIGNALS.changeEnded);
/** This address wants no more of this rule's mail. */
export const unsubscribed = defineSignal<[z.infer<typeof unsubscribedSignal>]>(SIGNALS.unsubscribed);
export const state = defineQuery<AgentRuleState>(QUERIES.state);
/** Ends the rule for good and drops what it collected. Changes that it started go on. Answers with the last state. */
export const remove = defineUpdate<AgentRuleState>(UPDATES.remove);

/** Sets the handlers. Nothing here may wait before every handler is set. */
export function answerMessages(run: RuleRun): void {
  const { memory } = run;
  // Somebody's own signal, misspelled: throwing would stop the whole workflow until it is taken out of the history.
  const ignored = (signal: string): void => log.warn(`a signal "${signal}" of another shape was ignored`);

  setHandler(published, (signal: unknown) => {
    const parsed = publishedSignal.safeParse(signal);
    if (parsed.success) takeIn(memory, run.seen, parsed.data, Date.now());
    else ignored(SIGNALS.published);
  });
  setHandler(configChanged, () => {
    run.configChanged = true;
  });
  setHandler(ownMerge, (signal: unknown) => {
    const parsed = ownMergeSignal.safeParse(signal);
    if (parsed.success) noteOwnMerge(memory, parsed.data.sha);
    else ignored(SIGNALS.ownMerge);
  });
  setHandler(changeEnded, (signal: unknown) => {
    const parsed = changeEndedPayload.safeParse(signal);
    if (parsed.success) noteChangeEnd(memory, parsed.data);
    else ignored(SIGNALS.changeEnded);
  });
  setHandler(unsubscribed, (signal: unknown) => {
    const parsed = unsubscribedSignal.safeParse(signal);
    if (parsed.success) noteUnsubscribed(memory, parsed.data.address);
    else ignored(SIGNALS.unsubscribed);
  });
  setHandler(state, () => ruleStateOf(run));
  setHandler(remove, () => {
    const ended = ruleStateOf(run);
    run.removed = true;
    return ended;
  });
}
