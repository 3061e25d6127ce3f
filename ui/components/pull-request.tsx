import type { BadgeProps } from './badge.tsx';
import { Text } from './text.tsx';

type PullRequestState = 'open' | 'merged' | 'closed';

/** One list of words for the states of pull requests. */
export const PULL_REQUEST_STATES: Record<PullRequestState, BadgeProps> = {
  open: { tone: 'busy', label: 'Open' },
  merged: { tone: 'good', label: 'Merged' },
  closed: { tone: 'neutral', label: 'Closed' },
};

type ReviewVerdict = 'approved' | 'changes-requested' | 'commented';

/** What a review says, after its reviewer's name. */
export const REVIEW_VERDICTS: Record<ReviewVerdict, BadgeProps> = {
  approved: { tone: 'good', label: 'approved' },
  'changes-requested': { tone: 'bad', label: 'asked for changes' },
  commented: { tone: 'neutral', label: 'commented' },
};

type PullRequestLinkProps = {
  href: string;
  /** Undefined if it isn't known, for example because another forge has it. */
  state: PullRequestState | undefined;
};

/** The state as a link, only to a web page: the link can come from another service. */
export function PullRequestLink({ href, state }: PullRequestLinkProps) {
  const text = state === undefined ? 'View' : PULL_REQUEST_STATES[state].label;
  return /^https?:\/\//i.test(href) ? <a href={href}>{text}</a> : <Text>{href}</Text>;
}
