import { z } from 'zod';

/** What a forge told of a pull request, read from a verified delivery. `url` is the page that people open. */

export const pullRequestState = z.enum(['open', 'merged', 'closed']);
export type PullRequestState = z.infer<typeof pullRequestState>;

/** The payload of the signal `pullRequestChanged`. Sent at least once: the delivery's id tells a resend. */
export const pullRequestChanged = z.object({
  deliveryId: z.string(),
  url: z.string(),
  state: pullRequestState,
  /** The commit that the merge put on the base branch; null while there is none, or where the forge tells none. */
  mergeCommitSha: z.string().nullable(),
  at: z.string(),
});
export type PullRequestChanged = z.infer<typeof pullRequestChanged>;

export const reviewVerdict = z.enum(['approved', 'changes-requested', 'commented']);
export type ReviewVerdict = z.infer<typeof reviewVerdict>;

/** One submitted review. `reviewer` is the forge's login; `bot`: the forge says that it is no person. */
export const review = z.object({
  reviewer: z.string(),
  verdict: reviewVerdict,
  at: z.string(),
  bot: z.boolean().optional(),
});
export type Review = z.infer<typeof review>;

/** A reviewer's verdict counts once, at its newest. */
export function reviewKey({ reviewer, verdict }: Pick<Review, 'reviewer' | 'verdict'>): string {
  return `${reviewer.toLowerCase()} ${verdict}`;
}

/** How a pull request stands when a forge is asked. */
export type PullRequestReading = Pick<PullRequestChanged, 'state' | 'mergeCommitSha'> & {
  title: string;
  reviews: Review[];
};

/** The payload of the signal `reviewed`. */
export const reviewed = review.extend({ deliveryId: z.string(), url: z.string() });
export type Reviewed = z.infer<typeof reviewed>;
