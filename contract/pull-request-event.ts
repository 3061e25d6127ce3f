import { z } from 'zod';

/** A forge's event about a pull request, read from a verified delivery. `url` is its page. */

export const pullRequestState = z.enum(['open', 'merged', 'closed']);
export type PullRequestState = z.infer<typeof pullRequestState>;

/** The payload of the signal `pullRequestChanged`. Sent at least once; the delivery's id identifies resends. */
export const pullRequestChanged = z.object({
  deliveryId: z.string(),
  url: z.string(),
  state: pullRequestState,
  /** The merge commit on the base branch; null if there is none or the forge doesn't say. */
  mergeCommitSha: z.string().nullable(),
  at: z.string(),
});
export type PullRequestChanged = z.infer<typeof pullRequestChanged>;

const reviewVerdict = z.enum(['approved', 'changes-requested', 'commented']);
export type ReviewVerdict = z.infer<typeof reviewVerdict>;

/** One submitted review. `reviewer` is the forge's login; `bot`: the forge says that it isn't a person. */
export const review = z.object({
  reviewer: z.string(),
  verdict: reviewVerdict,
  at: z.string(),
  bot: z.boolean().optional(),
});
export type Review = z.infer<typeof review>;

/** Identifies a reviewer's verdict; only the newest counts. */
export function reviewKey({ reviewer, verdict }: Pick<Review, 'reviewer' | 'verdict'>): string {
  return `${reviewer.toLowerCase()} ${verdict}`;
}

/** A review that requests changes, by the forge's id of it. */
export const changeRequest = review.omit({ verdict: true }).extend({ id: z.string() });
export type ChangeRequest = z.infer<typeof changeRequest>;

/** A pull request's state as read from the forge. */
export type PullRequestReading = Pick<PullRequestChanged, 'state' | 'mergeCommitSha'> & {
  title: string;
  /** Each reviewer's last verdict. */
  reviews: Review[];
  /** All that request changes, oldest first. Missing if a worker of an earlier release read it. */
  changeRequests?: ChangeRequest[];
};

/** The payload of the signal `reviewed`. */
export const reviewed = review.extend({ deliveryId: z.string(), url: z.string() });
export type Reviewed = z.infer<typeof reviewed>;
