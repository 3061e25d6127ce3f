import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES } from '../../../contract/names.ts';

/** What the Temporal UI says of a run. Nothing of the prompt: that stays in the platform's database. */
export type AgentStory = {
  repository: string;
  branch: string;
  run: number;
  stage: string;
  prLink?: string | null;
};

const PULL_REQUEST = defineSearchAttributeKey(SEARCH_ATTRIBUTES.pullRequest, SearchAttributeType.KEYWORD);

/** What Temporal's databases keep of a keyword. */
const KEYWORD_CHARACTERS = 255;

/** The workflow's current details, in Markdown. */
export function agentDetails({ repository, branch, run, stage, prLink }: AgentStory): string {
  const which = run === 1 ? '' : `, message ${run - 1}`;
  return [`**${repository}**, branch \`${branch}\`${which}`, stage, prLink ?? '']
    .filter((line) => line !== '')
    .join('\n\n');
}

/** Makes the run findable by its pull request. Only where the server knows the attribute: else the run would fail. */
export function markPullRequest(prLink: string): void {
  if (prLink.length <= KEYWORD_CHARACTERS) upsertSearchAttributes([{ key: PULL_REQUEST, value: prLink }]);
}
