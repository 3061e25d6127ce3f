import type { SearchAttributeUpdatePair } from '@temporalio/common';
import type { AgentRuleState } from '../../contract/agent-state.ts';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import { asText } from '../presence/as-text.ts';
import { createPresence } from '../presence/presence.ts';
import { dueOfRun } from './prompt-loop.ts';
import type { RuleRun } from './rule-run.ts';

/** Keeps what the Temporal UI shows of the rule in step with its state: the details, and the search attributes. */
export async function showPresence(run: RuleRun): Promise<void> {
  await createPresence({ details: () => describe(run), attributes: () => attributesOf(run) }).show();
}

/** The answer of the query `state`. */
export function ruleStateOf(run: RuleRun): AgentRuleState {
  const { site, rule, memory } = run;
  const due = dueOfRun(run);
  return {
    site,
    rule,
    phase: phaseOf(run),
    pendingCount: memory.waiting?.count ?? 0,
    dueAt: due === null ? null : new Date(due.atMs).toISOString(),
    changes: memory.changes,
    unsubscribed: memory.unsubscribed,
    error: memory.unconfigured,
  };
}

function phaseOf(run: RuleRun): AgentRuleState['phase'] {
  if (run.memory.unconfigured !== null) return 'unconfigured';
  if (run.memory.waiting === null) return 'idle';
  return dueOfRun(run)?.limited ? 'limited' : 'collecting';
}

function attributesOf(run: RuleRun): SearchAttributeUpdatePair[] | null {
  if (run.settings?.searchAttributes !== true) return null;
  const { site, phase } = ruleStateOf(run);
  return [
    { key: { name: SEARCH_ATTRIBUTES.site, type: 'KEYWORD' }, value: site },
    { key: { name: SEARCH_ATTRIBUTES.phase, type: 'KEYWORD' }, value: phase },
  ];
}

/** The rule's story in Markdown, as the Temporal UI shows it beside the run. */
function describe(run: RuleRun): string {
  const { rule, phase, pendingCount, dueAt, changes, unsubscribed, error } = ruleStateOf(run);
  const newest = run.memory.waiting?.events.at(-1)?.event;
  const lines = [
    `**${asText(rule)}** of ${asText(run.site)}: ${phase}`,
    newest &&
      `${pendingCount} event(s) wait until ${dueAt ?? 'the rule was read'}, the newest: ${asText(newest.title)}`,
    ...changes.slice(0, 5).map(describeChange),
    error && asText(error),
    unsubscribed.length > 0 && `${unsubscribed.length} address(es) want no more mail`,
  ];
  return lines.filter((line) => typeof line === 'string').join('\n\n');
}

function describeChange({ workflowId, startedAt, end }: AgentRuleState['changes'][number]): string {
  const ended = end === undefined ? '' : `: ${end.phase}${end.message === null ? '' : `, ${asText(end.message)}`}`;
  return `${startedAt} started ${asText(workflowId)}${ended}`;
}
