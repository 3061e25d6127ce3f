import type { SearchAttributeUpdatePair } from '@temporalio/common';
import type { AgentRuleState } from '../../contract/agent-state.ts';
import { escapeMarkdown, paragraphs } from '../../contract/details-markdown.ts';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import { createVisibility } from '../entity/visibility.ts';
import { dueOfRun } from './schedule.ts';
import type { RuleRun } from './state.ts';

/** Keeps the current details and search attributes up to date. */
export async function watchVisibility(run: RuleRun): Promise<void> {
  await createVisibility({ details: () => details(run), attributes: () => attributesOf(run) }).watch();
}

/** The result of the query `state`. */
export function ruleStateOf(run: RuleRun): AgentRuleState {
  const { site, rule, state } = run;
  const due = dueOfRun(run);
  return {
    site,
    rule,
    phase: phaseOf(run),
    pendingCount: state.waiting?.count ?? 0,
    dueAt: due === null ? null : new Date(due.atMs).toISOString(),
    changes: state.changes,
    unsubscribed: state.unsubscribed,
    error: state.unconfigured,
    newest: state.newest && { title: state.newest.event.title, at: state.newest.event.at },
  };
}

function phaseOf(run: RuleRun): AgentRuleState['phase'] {
  if (run.state.unconfigured !== null) return 'unconfigured';
  if (run.state.waiting === null) return 'idle';
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

function details(run: RuleRun): string {
  const { rule, phase, pendingCount, dueAt, changes, unsubscribed, error } = ruleStateOf(run);
  const newest = run.state.waiting?.events.at(-1)?.event;
  return paragraphs([
    `**${escapeMarkdown(rule)}** of ${escapeMarkdown(run.site)}: ${phase}`,
    newest &&
      `${pendingCount} event(s) wait until ${dueAt ?? 'the rule was read'}, the newest: ${escapeMarkdown(newest.title)}`,
    ...changes.slice(0, 5).map(changeDetails),
    error && escapeMarkdown(error),
    unsubscribed.length > 0 && `${unsubscribed.length} address(es) want no more mail`,
  ]);
}

function changeDetails({ workflowId, startedAt, end }: AgentRuleState['changes'][number]): string {
  const message = end?.message ? `, ${escapeMarkdown(end.message)}` : '';
  return `${startedAt} started ${escapeMarkdown(workflowId)}${end === undefined ? '' : `: ${end.phase}${message}`}`;
}
