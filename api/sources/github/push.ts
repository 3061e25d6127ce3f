import { z } from 'zod';
import { HttpError } from '../../../contract/http-error.ts';
import { readInstant, readText } from '../json-fields.ts';
import type { Delivery, Reading } from '../source.ts';
import { isAgentsOwn } from './agents-own.ts';

/** Whatever it is, it is read as text where it is one: only `ref` decides what happens. */
const anything = z.unknown().optional();

const commit = z.object({
  id: anything,
  message: anything,
  url: anything,
  timestamp: anything,
  added: anything,
  modified: anything,
  removed: anything,
});

/** Past this many commits a push names the newest only, so the files it tells are not all. GitHub's own bound is higher. */
const MOST_COMMITS = 20;

/** What a push is read for; Gitea's push has `compare_url` and the pusher's `login`. */
const push = z.object({
  ref: z.string(),
  after: anything,
  deleted: anything,
  compare: anything,
  compare_url: anything,
  head_commit: commit.nullish().catch(undefined),
  commits: z.array(commit).nullish().catch(undefined),
  pusher: z.object({ name: anything, login: anything }).nullish().catch(undefined),
});

/** A push to the configured branch publishes; one to another branch, or the deletion of one, is listed. */
export function readPush(body: unknown, branch: string, delivery: Delivery): Reading {
  const parsed = push.safeParse(body);
  if (!parsed.success) throw new HttpError(400, 'a push needs the field ref: expected a text such as refs/heads/main');
  const { ref, after, deleted, head_commit: head, commits, pusher, compare, compare_url: compareUrl } = parsed.data;
  if (deleted === true) return { kind: 'filtered', topic: 'push', why: 'a branch was deleted' };
  if (ref !== `refs/heads/${branch}`) return { kind: 'filtered', topic: 'push', why: `branch is not ${branch}` };
  const id = readText(after) ?? readText(head?.id) ?? delivery.id;
  const own = isAgentsOwn(messageOf(head), (commits ?? []).map(messageOf));
  return {
    kind: 'publish',
    paths: changedFiles(commits ?? []),
    event: {
      source: 'github',
      topic: 'push',
      action: 'publish',
      id,
      title: readText(readText(head?.message)?.split('\n')[0]) ?? id,
      url: readText(head?.url) ?? readText(compare) ?? readText(compareUrl) ?? '',
      author: readText(pusher?.name) ?? readText(pusher?.login) ?? '',
      at: readInstant(head?.timestamp) ?? delivery.receivedAt.toISOString(),
      ...(own && { agentsOwn: true }),
    },
  };
}

/** Every file that the commits name; undefined where one doesn't tell, or not every commit may be listed. */
function changedFiles(commits: readonly z.infer<typeof commit>[]): string[] | undefined {
  if (commits.length === 0 || commits.length >= MOST_COMMITS) return undefined;
  const lists = commits.flatMap(({ added, modified, removed }) => [added, modified, removed]);
  if (!lists.every((list) => Array.isArray(list))) return undefined;
  return lists.flat().filter((file) => typeof file === 'string');
}

/** The whole message: what marks an agent's commit stands at its end. */
function messageOf(read: z.infer<typeof commit> | null | undefined): string {
  return typeof read?.message === 'string' ? read.message : '';
}
