import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { z } from 'zod';
import type { Activities } from '../activities/create-activities.ts';
import type { RuleMailInput } from '../activities/mails/mail-input.ts';
import { type AgentRuleState, type ChangeEnded, changeEnded as changeEndedPayload } from '../contract/agent-state.ts';
import { QUERIES, SIGNALS, UPDATES } from '../contract/names.ts';
import { type PublishedSignal, publishedSignal } from '../contract/publish-event.ts';
import type { ActionOptions } from '../contract/site-action.ts';
import { settingsSource } from './agent-rule/configuration.ts';
import { startChanges } from './agent-rule/start-changes.ts';
import { newRun, newState, type RuleRun, restoreState, serializeState } from './agent-rule/state.ts';
import * as transitions from './agent-rule/transitions.ts';
import { ruleStateOf, watchVisibility } from './agent-rule/visibility.ts';
import { createSeenDeliveries } from './deliveries/seen-deliveries.ts';
import { rejectIf, rejectInvalidOptions } from './entity/action-options.ts';
import { rereadSettings, watchSettings } from './entity/configuration.ts';
import { isHistoryLong, shouldContinueAsNew } from './entity/continue-as-new.ts';
import { handleSignal, runUntil } from './entity/coroutines.ts';
import { type IncidentSource, notifyOperators } from './mails/notify-operators.ts';
import { mailTimeouts } from './retry/activity-timeouts.ts';

type AgentRuleInput = {
  site: string;
  /** The rule's name in galley.yaml. */
  rule: string;
  /** The previous run's state (`serializeState`); missing in the first run. */
  carry?: unknown;
};

const ownMergePayload = z.object({ sha: z.string().min(1).max(200) });
const unsubscribedPayload = z.object({ address: z.string() });

// The handlers in `setHandlers` say what each does.
const published = defineSignal<[PublishedSignal]>(SIGNALS.published);
const configChanged = defineSignal(SIGNALS.configChanged);
const ownMerge = defineSignal<[z.infer<typeof ownMergePayload>]>(SIGNALS.ownMerge);
const changeEnded = defineSignal<[ChangeEnded]>(SIGNALS.changeEnded);
const unsubscribed = defineSignal<[z.infer<typeof unsubscribedPayload>]>(SIGNALS.unsubscribed);
const getState = defineQuery<AgentRuleState>(QUERIES.state);
const remove = defineUpdate<AgentRuleState, [ActionOptions?]>(UPDATES.remove);

const runAgain = defineUpdate<AgentRuleState, [ActionOptions?]>(UPDATES.runAgain);

const { sendRuleMail } = proxyActivities<Activities>(mailTimeouts);

/** The default for rules whose settings aren't known. */
const NOTIFY_AFTER_MS = 10 * 60_000;

/**
 * One agent rule of a site: collects events and starts one `agentChange` for all that come together. It also keeps what
 * outlives a change: who has unsubscribed, and which commits are the agent's own work. Runs until an operator removes the
 * rule.
 */
export async function agentRule(input: AgentRuleInput): Promise<void> {
  const { state, seen } =
    input.carry === undefined ? { state: newState(), seen: createSeenDeliveries() } : restoreState(input.carry);
  const run = newRun(input, state, seen);
  // Before the first await, so that no signal is handled later than what the flow does.
  setHandlers(run);

  await rereadSettings(settingsSource(run));
  await runUntil(
    [
      () => startChanges(run),
      () => watchSettings(settingsSource(run)),
      () => notifyOperators(incidentSource(run)),
      () => watchVisibility(run),
    ],
    () => mustEnd(run) && canEnd(run),
  );
  await condition(() => canEnd(run));
  if (run.removed && !(await mayReturn(run))) return;
  const { site, rule } = run;
  await continueAsNew<typeof agentRule>({ site, rule, carry: serializeState(run.state, run.seen) });
}

function setHandlers(run: RuleRun): void {
  const { state } = run;
  handleSignal(published, publishedSignal, 'Events to prompt.', (signal) => {
    transitions.applyDeliveries(state, run.seen, signal, Date.now());
  });
  const reread = (): void => {
    run.configChanged = true;
  };
  setHandler(configChanged, reread, { description: 'Reads the settings of the rule again.' });
  handleSignal(
    ownMerge,
    ownMergePayload,
    'This commit merged a pull request of the rule: its push causes no prompt.',
    ({ sha }) => transitions.applyOwnMerge(state, sha),
  );
  handleSignal(changeEnded, changeEndedPayload, 'A change of the rule has ended.', (end) =>
    transitions.recordChangeEnd(state, end),
  );
  handleSignal(unsubscribed, unsubscribedPayload, 'The address gets no more mails of the rule.', ({ address }) =>
    transitions.unsubscribe(state, address),
  );
  setHandler(getState, () => ruleStateOf(run), { description: 'The rule: its events, changes and failures.' });
  setHandler(
    runAgain,
    () => {
      transitions.runAgain(state, Date.now());
      return ruleStateOf(run);
    },
    {
      description: 'Prompts with the newest event again, without a quiet period.',
      validator(options?: unknown) {
        rejectInvalidOptions(options);
        const why = transitions.whyNotAgain(state);
        rejectIf(why !== null, why ?? '');
      },
    },
  );
  const end = (): AgentRuleState => {
    const lastState = ruleStateOf(run);
    run.removed = true;
    return lastState;
  };
  setHandler(remove, end, {
    description: 'Ends the workflow and drops the collected events. Started changes continue. Returns the last state.',
  });
}

/**
 * A removed rule with unsubscribed addresses keeps them in case it is configured again, and waits until that is worth a
 * look. Any other removed rule ends.
 */
async function mayReturn(run: RuleRun): Promise<boolean> {
  const { state } = run;
  transitions.dropWaiting(state);
  if (state.unsubscribed.length === 0) return false;
  await condition(() => (run.configChanged || state.waiting !== null || isHistoryLong()) && allHandlersFinished());
  return true;
}

function incidentSource(run: RuleRun): IncidentSource<RuleMailInput['event']> {
  const { state, site, rule } = run;
  return {
    state,
    isFailing: () => state.unconfigured !== null,
    operators: () => run.operators,
    notifyAfterMs: () => run.settings?.tellAfterMs ?? NOTIFY_AFTER_MS,
    events: { failing: 'rule-trouble', recovered: 'rule-recovered' },
    send(event, since) {
      const mail = {
        site,
        rule,
        workflowId: workflowInfo().workflowId,
        event,
        since: since.toISOString(),
        error: state.unconfigured,
        pendingCount: state.waiting?.count ?? 0,
        keepsSettings: state.settings !== null,
      };
      return (to, summary) => sendRuleMail.executeWithOptions({ summary }, [{ ...mail, to }]);
    },
  };
}

function mustEnd(run: RuleRun): boolean {
  return run.removed || shouldContinueAsNew(run);
}

function canEnd(run: RuleRun): boolean {
  return !run.starting && allHandlersFinished();
}
