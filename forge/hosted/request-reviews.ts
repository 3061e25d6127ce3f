import type { Octokit } from '@octokit/rest';
import type { ReviewRequests } from '../forge.ts';
import type { RepositoryTarget } from './connection.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import type { Dialect } from './responses.ts';
import { type PullRequestResponse, pullRequestResponse } from './responses.ts';

type Wish = { kind: 'login' | 'team'; name: string };
type Refused = { name: string; reason: string };

/** These mean that someone can't be a reviewer; any other is Galley's problem or temporary. */
const REFUSING_STATUSES = [400, 404, 422];

/**
 * Requests reviews. Forges reject a whole list for one bad name: then each is requested alone.
 * @throws octokit's errors unless a name is rejected.
 */
export async function requestReviews(
  client: Octokit,
  {
    dialect,
    target,
    requests,
  }: {
    dialect: Dialect;
    target: RepositoryTarget & { pull_number: number };
    requests: ReviewRequests;
  },
): Promise<{ requested: string[]; refused: Refused[] }> {
  const wishes: Wish[] = [
    ...requests.logins.map((name) => ({ kind: 'login', name }) as const),
    ...requests.teams.map((name) => ({ kind: 'team', name }) as const),
  ];
  if (wishes.length === 0) return { requested: [], refused: [] };
  const read = async () => pullRequestResponse.parse((await client.rest.pulls.get(target)).data);
  const ask = async (some: readonly Wish[]): Promise<Refusal | null> => {
    const names = (kind: Wish['kind']) => some.filter((wish) => wish.kind === kind).map(({ name }) => name);
    return client.rest.pulls
      .requestReviewers({ ...target, reviewers: names('login'), team_reviewers: names('team') })
      .then(() => null, whatWasRefused);
  };

  const before = await read();
  const reasons = new Map<Wish, string>();
  const open = wishes.filter((wish) => {
    const reason = reasonBefore(wish, before);
    if (reason !== null) reasons.set(wish, reason);
    return reason === null && !isRequested(wish, before);
  });
  if (open.length > 0 && (await ask(open)) !== null) {
    for (const wish of open) {
      const refusal = await ask([wish]);
      if (refusal !== null) reasons.set(wish, refusal.said || `the forge answered ${refusal.status}`);
    }
  }
  const teams = open.filter((wish) => wish.kind === 'team' && !reasons.has(wish));
  if (teams.length > 0) {
    const missing = dialect.passedOver(
      await read(),
      teams.map(({ name }) => name),
    );
    for (const wish of teams) {
      if (missing.includes(wish.name)) reasons.set(wish, 'the repository has no such team');
    }
  }
  return {
    requested: wishes.filter((wish) => !reasons.has(wish)).map(({ name }) => name),
    refused: wishes.flatMap((wish) => {
      const reason = reasons.get(wish);
      return reason === undefined ? [] : [{ name: wish.name, reason }];
    }),
  };
}

function reasonBefore(wish: Wish, { state, merged_at, user }: PullRequestResponse): string | null {
  if (state === 'closed') return `the pull request is ${merged_at ? 'merged' : 'closed'}`;
  return wish.kind === 'login' && same(wish.name, user?.login) ? 'opened the pull request' : null;
}

function isRequested({ kind, name }: Wish, response: PullRequestResponse): boolean {
  if (kind === 'login') return (response.requested_reviewers ?? []).some(({ login }) => same(name, login));
  const { requested_teams, requested_reviewers_teams } = response;
  const teams = [...(requested_teams ?? []).flatMap(({ name, slug }) => [name, slug])];
  return [...teams, ...(requested_reviewers_teams ?? []).map((team) => team.name)].some((each) => same(name, each));
}

function whatWasRefused(error: unknown): Refusal {
  const refusal = refusalOf(error);
  if (refusal && REFUSING_STATUSES.includes(refusal.status)) return refusal;
  throw error;
}

function same(one: string, other: string | undefined): boolean {
  return one.toLowerCase() === other?.toLowerCase();
}
