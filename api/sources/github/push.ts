import { z } from 'zod';
import { HttpError } from '../../../web/http-error.ts';
import { readInstant, readText } from '../../webhooks/json-fields.ts';
import type { Selection } from '../../webhooks/select-json.ts';
import type { Delivery, ParsedDelivery } from '../../webhooks/source.ts';

/** Only `ref` must have a type: any other field is read if it is a text. */
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

/** A push with as many commits may have more than it lists. GitHub's own limit is higher, Gitea's is a setting. */
const MOST_COMMITS = { github: 20, gitea: 5 };

/** Blanks only: with `\s`, the match would start again at each of thousands of empty lines. */
const TRAILER = /^[ \t]*Galley-Job: aj_[0-9a-f]{16}[ \t\r]*$/m;

/** The first line of a merge as GitHub, Gitea and git itself write it. */
const MERGE_OF_AGENT_BRANCH = /^Merge (?:pull request|branch|remote-tracking branch) .*\bgalley\/aj_[0-9a-f]{16}\b/;

/** Gitea's push has `compare_url` and the pusher's `login`. */
const push = z.object({
  ref: z.string(),
  after: anything,
  deleted: anything,
  compare: anything,
  compare_url: anything,
  head_commit: commit.nullish().catch(undefined),
  commits: z.array(commit).nullish().catch(undefined),
  total_commits: anything,
  pusher: z.object({ name: anything, login: anything }).nullish().catch(undefined),
});

/** A push to the configured branch publishes; one to another branch, or the deletion of a branch, is filtered. */
export function parsePush({ body, id: deliveryId, receivedAt }: Delivery, branch: string): ParsedDelivery {
  const parsed = push.safeParse(body);
  if (!parsed.success) throw new HttpError(400, 'a push needs the field ref: expected a text such as refs/heads/main');
  const { ref, after, deleted, head_commit: head, pusher, compare, compare_url: compareUrl } = parsed.data;
  if (deleted === true) return { kind: 'filtered', topic: 'push', why: 'a branch was deleted' };
  if (ref !== `refs/heads/${branch}`) return { kind: 'filtered', topic: 'push', why: `branch is not ${branch}` };
  const id = readText(after) ?? readText(head?.id) ?? deliveryId;
  const own = isAgentsOwn(parsed.data);
  return {
    kind: 'publish',
    paths: changedFiles(parsed.data),
    event: {
      topic: 'push',
      action: 'publish',
      id,
      title: readText(readText(head?.message)?.split('\n')[0]) ?? id,
      url: readText(head?.url) ?? readText(compare) ?? readText(compareUrl) ?? '',
      author: readText(pusher?.name) ?? readText(pusher?.login) ?? '',
      at: readInstant(head?.timestamp) ?? receivedAt.toISOString(),
      ...(own && { agentsOwn: true }),
    },
  };
}

type Push = z.infer<typeof push>;

const COMMIT_FIELDS: Selection = { id: true, message: true, url: true, timestamp: true };

/** The fields of `push`. */
export const PUSH_FIELDS: Record<string, Selection> = {
  ...{ ref: true, after: true, deleted: true, compare: true, compare_url: true, total_commits: true },
  pusher: { name: true, login: true },
  head_commit: COMMIT_FIELDS,
  commits: { message: true, added: true, modified: true, removed: true },
};

/** Every file that the commits change; undefined if a commit lacks its files, or if commits may be missing. */
function changedFiles({ commits, ...rest }: Push): string[] | undefined {
  if (!commits?.length || mayLackCommits({ commits, ...rest })) return undefined;
  const lists = commits.flatMap(({ added, modified, removed }) => [added, modified, removed]);
  if (!lists.every((list) => Array.isArray(list))) return undefined;
  return lists.flat().filter((file) => typeof file === 'string');
}

/** Whether older commits were left out. Some releases of Gitea don't count them in `total_commits` either. */
function mayLackCommits({ commits, total_commits: total, compare_url: compareUrl }: Push): boolean {
  const listed = commits?.length ?? 0;
  if (typeof total === 'number' && total > listed) return true;
  return listed >= (compareUrl === undefined ? MOST_COMMITS.github : MOST_COMMITS.gitea);
}

/** The whole message: the trailer of an agent's commit is at its end. */
function messageOf(read: z.infer<typeof commit> | null | undefined): string {
  return typeof read?.message === 'string' ? read.message : '';
}

/**
 * Whether a push brings only an agent's own work, which must not prompt the agent again: it merges an agent's branch, or
 * every commit has the platform's trailer. The signal `ownMerge` covers agent services that mark neither.
 */
function isAgentsOwn(pushed: Push): boolean {
  const headMessage = messageOf(pushed.head_commit);
  if (MERGE_OF_AGENT_BRANCH.test(headMessage)) return true;
  return (
    !mayLackCommits(pushed) &&
    [headMessage, ...(pushed.commits ?? []).map(messageOf)].every((message) => TRAILER.test(message))
  );
}
