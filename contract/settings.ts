import { z } from 'zod';

/**
 * What the orchestrator's workflows need of galley.yaml, as an activity reads it. No secrets and no templates: it enters
 * the history, and workflows carry it along, because the last known settings stay in force where a worker knows none.
 */

const ms = z.number();

/** What the operator has set in a values file: a pin, and whether it is switched off. Releases before 0.2 told pins only. */
export const pinnedFile = z.object({
  valuesFile: z.string(),
  pin: z.string().nullable(),
  off: z.boolean().optional(),
});
export type PinnedFile = z.infer<typeof pinnedFile>;

export const siteSettings = z.object({
  domain: z.string(),
  timeoutMs: ms,
  quietPeriodMs: ms,
  maxWaitMs: ms,
  whenBusy: z.enum(['queue', 'cancel']),
  /** Share of the link's lifetime, before its end, at which it is refreshed. */
  refreshMargin: z.number(),
  minRefreshIntervalMs: ms,
  valuesFiles: z.array(z.string()),
  /** The operators' pins as they stand now. A file that can't be read isn't listed; releases before 0.2 told none. */
  pins: z.array(pinnedFile).optional(),
  /** Who is told by mail of trouble that lasts; nobody without a mail server. Releases before 0.2 told none. */
  operators: z.array(z.string()).optional(),
  /** How long trouble has to last before they are told. */
  tellAfterMs: ms.optional(),
  /** Whether the search attributes of names.ts are usable here. */
  searchAttributes: z.boolean(),
  /** The worker's build. Only releases before 0.2 told it. */
  build: z.string().optional(),
});
export type SiteSettings = z.infer<typeof siteSettings>;

export const ruleSettings = z.object({
  /** The names of all rules of the site: what one agent merges is to prompt none of them. */
  rules: z.array(z.string()),
  /** Mail addresses of the rule's own reviewers. */
  reviewers: z.array(z.string()),
  /** Mail addresses of those who are told of failures. */
  operators: z.array(z.string()),
  quietPeriodMs: ms,
  maxPerHour: z.number(),
  /** Times after the request for review, ascending; each sends one reminder unless somebody reviewed by then. */
  remindAfterMs: z.array(ms),
  expireAfterMs: ms,
  /** Whether a forge, and whether a mail server, is configured. */
  forge: z.boolean(),
  mail: z.boolean(),
  /** How long trouble has to last before the operators are told. Releases before 0.2 told none. */
  tellAfterMs: ms.optional(),
  /** Whether the search attributes of names.ts are usable here. */
  searchAttributes: z.boolean(),
  /** The worker's build. Only releases before 0.2 told it. */
  build: z.string().optional(),
});
export type RuleSettings = z.infer<typeof ruleSettings>;
