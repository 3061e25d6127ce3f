import { allHandlersFinished, condition, continueAsNew } from '@temporalio/workflow';
import { answerMessages } from './agent-rule/messages.ts';
import { showPresence } from './agent-rule/presence.ts';
import { promptLoop } from './agent-rule/prompt-loop.ts';
import { freshRuleMemory, fromRuleCarry, toRuleCarry } from './agent-rule/rule-memory.ts';
import { newRuleRun, type RuleRun, sourceOf } from './agent-rule/rule-run.ts';
import { ruleTrouble } from './agent-rule/trouble.ts';
import { isOtherBuild } from './coroutines/builds.ts';
import { isLong } from './coroutines/continuing.ts';
import { runUntil } from './coroutines/run-until.ts';
import { createSeenDeliveries } from './deliveries/seen-deliveries.ts';
import { tellOperators } from './mails/tell-operators.ts';
import { rereadSettings, watchSettings } from './settings/read-settings.ts';

export type AgentRuleInput = {
  site: string;
  /** The rule's name in galley.yaml. */
  rule: string;
  /** What the last run of the chain handed over (agent-rule/rule-memory.ts). A first start has none. */
  carry?: unknown;
};

/**
 * One agent rule of a site, until somebody removes it: it collects events, and starts one `agentChange` for all
 * that came together. It also keeps what outlives a change: who wants no more mail, and which commits are the agent's
 * own work.
 *
 * This workflow outlives every release: see export-site.ts for how its commands may change.
 */
export async function agentRule(input: AgentRuleInput): Promise<void> {
  const { memory, seen } =
    input.carry === undefined
      ? { memory: freshRuleMemory(), seen: createSeenDeliveries() }
      : fromRuleCarry(input.carry);
  const run = newRuleRun(input, memory, seen);
  // Before the first await: signals that came with the start, or while the last run ended, are taken in first.
  answerMessages(run);

  if (await rereadSettings(sourceOf(run))) {
    await runUntil(
      [
        () => promptLoop(run),
        () => watchSettings(sourceOf(run)),
        () => tellOperators(ruleTrouble(run)),
        () => showPresence(run),
      ],
      () => mustEnd(run) && !run.starting && allHandlersFinished(),
    );
  }
  await condition(() => !run.starting && allHandlersFinished());
  if (run.removed && !(await mayComeBack(run))) return;
  const { site, rule } = run;
  await continueAsNew<typeof agentRule>({ site, rule, carry: toRuleCarry(run.memory, run.seen) });
}

/**
 * A removed rule forgets what it collected and ends, unless somebody wanted no more of its mail: whoever adds the rule
 * again must not write to them again. Then it waits until there is reason to look whether it is back.
 */
async function mayComeBack(run: RuleRun): Promise<boolean> {
  run.memory.waiting = null;
  if (run.memory.unsubscribed.length === 0) return false;
  await condition(() => (run.configChanged || run.memory.waiting !== null || isLong()) && allHandlersFinished());
  return true;
}

function mustEnd(run: RuleRun): boolean {
  return run.removed || run.buildChanged || isOtherBuild(run.build) || isLong();
}
