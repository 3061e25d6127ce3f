import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import { escapeMarkdown, paragraphs } from '../../../contract/details-markdown.ts';
import { SEARCH_ATTRIBUTES } from '../../../contract/names.ts';

/** The job's visibility in the Temporal UI. */
export type JobVisibility = {
  domain: string;
  version: string;
  stage: string;
  urlCount?: number;
  pageCount?: number;
};

const SITE = defineSearchAttributeKey(SEARCH_ATTRIBUTES.site, SearchAttributeType.KEYWORD);
const VERSION = defineSearchAttributeKey(SEARCH_ATTRIBUTES.version, SearchAttributeType.KEYWORD);

/** The workflow's current details, in Markdown. */
export function jobDetails({ domain, version, stage, urlCount, pageCount }: JobVisibility): string {
  const counts = [
    pageCount === undefined ? [] : [`${pageCount} pages`],
    urlCount === undefined ? [] : [`${urlCount} URLs`],
  ].flat();
  const title = `**${escapeMarkdown(domain)}**, version ${escapeMarkdown(version)}`;
  return paragraphs([title, stage, counts.length > 0 && counts.join(', ')]);
}

/**
 * Makes the job findable by site and version, but only if the server knows the attributes: otherwise the run would
 * fail.
 */
export function markJob({ domain, version }: JobVisibility): void {
  upsertSearchAttributes([
    { key: SITE, value: domain },
    { key: VERSION, value: version },
  ]);
}
