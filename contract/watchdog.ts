import { z } from 'zod';

/**
 * `failing-tasks`: the code of a workflow fails or doesn't fit its history, so it does nothing until a fixed release runs.
 * `link-expires`: a link should have been refreshed long ago. `unconfigured`: no galley.yaml has the site.
 */
const problemKind = z.enum(['failing-tasks', 'link-expires', 'unconfigured']);
export type ProblemKind = z.infer<typeof problemKind>;
export const PROBLEM_KINDS = problemKind.options;

/** What the watchdog finds in one check. */
const problem = z.object({
  kind: problemKind,
  workflowId: z.string(),
  site: z.string(),
  /** A description for operators. */
  detail: z.string(),
});
export type Problem = z.infer<typeof problem>;

/** A workflow has at most one problem of each kind. */
export function problemKey({ kind, workflowId }: Problem): string {
  return `${kind} ${workflowId}`;
}

/** A problem that isn't solved yet. */
const openProblem = problem.extend({
  /** When a check found it first, in epoch milliseconds. */
  sinceMs: z.number(),
  /** Whether the operators have got a mail about it. */
  reported: z.boolean(),
});
export type OpenProblem = z.infer<typeof openProblem>;

/** The result of one run of `watchdog`, from which the next one continues. */
export const watchdogState = z.object({ open: z.array(openProblem) });
export type WatchdogState = z.infer<typeof watchdogState>;
