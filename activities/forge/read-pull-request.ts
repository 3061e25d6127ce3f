import { ApplicationFailure } from '@temporalio/common';
import type { PullRequestReading } from '../../contract/pull-request-event.ts';
import type { ForgeReader } from '../../forge/forge.ts';
import { heartbeatWhile } from '../heartbeat.ts';
import { askForge } from './forge-failure.ts';

/** More than anyone submits between two readings. */
const MAX_CHANGE_REQUESTS = 50;

/** Reads the pull request once. Fails with the types of forge-failure.ts. */
export function createReadPullRequest(forge: ForgeReader | undefined) {
  return async function readPullRequest({ prLink }: { prLink: string }): Promise<PullRequestReading> {
    if (forge === undefined) {
      throw ApplicationFailure.create({ type: 'NoForge', message: 'no forge is configured', nonRetryable: true });
    }
    const { state, title, mergeCommitSha, reviews, changeRequests } = await heartbeatWhile(() =>
      askForge(() => forge.readPullRequest(prLink)),
    );
    return { state, title, mergeCommitSha, reviews, changeRequests: changeRequests.slice(-MAX_CHANGE_REQUESTS) };
  };
}
