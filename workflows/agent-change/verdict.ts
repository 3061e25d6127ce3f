import type { Review } from '../../contract/pull-request-event.ts';
import type { ChangeMemory } from './change-memory.ts';

type Asked = Pick<ChangeMemory, 'plan' | 'reviewRequests'>;

/** Whether a person who was asked for the review has approved, or requested changes. */
export function hasVerdict(memory: Asked & Pick<ChangeMemory, 'reviews'>): boolean {
  return memory.reviews.some((review) => isPersonsVerdict(review) && wasAsked(memory, review.reviewer));
}

/** GitHub marks bots, and its Apps have logins such as `galley[bot]`. */
function isPersonsVerdict({ verdict, reviewer, bot }: Review): boolean {
  return verdict !== 'commented' && bot !== true && !/\[bot\]$/i.test(reviewer);
}

/**
 * Whether a login may be one of those who were asked. Any may be if nobody was asked on the forge, or a team was, whose
 * members aren't known here, or somebody got mail whose login the forge doesn't tell.
 */
function wasAsked({ plan, reviewRequests }: Asked, reviewer: string): boolean {
  const isRequested = (name: string): boolean => reviewRequests.requested.some((other) => same(name, other));
  if (plan === null || plan.unknownLogins === true || plan.teams.some(isRequested)) return true;
  return !plan.logins.some(isRequested) || plan.logins.some((login) => same(login, reviewer));
}

function same(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
