import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import { escapeMarkdown, markdownLink, paragraphs } from '../../../contract/details-markdown.ts';
import { SEARCH_ATTRIBUTES } from '../../../contract/names.ts';

/** The run's visibility in the Temporal UI. The prompt isn't part of it: it stays in the platform's database. */
export type AgentVisibility = {
  repository: string;
  branch: string;
  run: number;
  stage: string;
  prLink?: string | null;
};

const PULL_REQUEST = defineSearchAttributeKey(SEARCH_ATTRIBUTES.pullRequest, SearchAttributeType.KEYWORD);

/** The longest keyword that Temporal's databases store. */
const KEYWORD_CHARACTERS = 255;

/** The workflow's current details, in Markdown. */
export function agentDetails({ repository, branch, run, stage, prLink }: AgentVisibility): string {
  const which = run === 1 ? '' : `, message ${run - 1}`;
  const title = `**${escapeMarkdown(repository)}**, branch ${escapeMarkdown(branch)}${which}`;
  return paragraphs([title, stage, prLink && markdownLink('Pull request', prLink)]);
}

/**
 * Makes the run findable by its pull request, but only if the server knows the attribute: otherwise the run would fail.
 */
export function markPullRequest(prLink: string): void {
  if (prLink.length <= KEYWORD_CHARACTERS) upsertSearchAttributes([{ key: PULL_REQUEST, value: prLink }]);
}
