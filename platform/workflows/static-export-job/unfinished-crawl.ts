import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** Whether the paths couldn't be frozen because addresses are still to be crawled. */
export function isUnfinishedCrawl(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === 'CrawlUnfinished';
}
