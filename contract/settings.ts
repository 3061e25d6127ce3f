import { z } from 'zod';
import { notificationType } from './notification.ts';
import { targetKind } from './target-kind.ts';

/**
 * The part of galley.yaml that workflows need, as an activity reads it. No secrets and no templates: it enters the
 * history, and workflows keep it, because the last known settings apply if a worker knows none.
 */

const ms = z.number();

/** The types of events that any target of `notify` gets. */
const notify = z.array(notificationType);

/** What the operator has set in a values file: a pin, and whether it is switched off. */
const pinnedFile = z.object({
  valuesFile: z.string(),
  pin: z.string().nullable(),
  off: z.boolean(),
});
export type PinnedFile = z.infer<typeof pinnedFile>;

/** Limits beyond which an export is held for review; `maxShrink` is a share of the served pages. */
const guards = z.object({ maxShrink: z.number(), maxNewlyBroken: z.int(), startPage: z.boolean() });
export type Guards = z.infer<typeof guards>;

/** A deployment whose status says what it serves. Its URLs are the worker's: they may hold a password. */
const confirmation = z.object({
  valuesFile: z.string(),
  withinMs: ms,
  /** Whether a version that isn't served in time is replaced by the one before it. */
  rollback: z.boolean(),
});

/** A deployment that isn't a values file on the disk of every worker. Its settings are the worker's: they may be secret. */
const targetSummary = z.object({
  /** The name, as in `valuesFiles`. */
  name: z.string(),
  kind: targetKind,
  /** The machine whose workers write it. */
  host: z.string().optional(),
});
export type TargetSummary = z.infer<typeof targetSummary>;

export const siteSettings = z.object({
  domain: z.string(),
  timeoutMs: ms,
  quietPeriodMs: ms,
  maxWaitMs: ms,
  whenBusy: z.enum(['queue', 'cancel']),
  /** Share of the link's lifetime, before its expiry, at which to refresh it. */
  refreshMargin: z.number(),
  minRefreshIntervalMs: ms,
  /** The names of the deployments: the path of a values file, otherwise of `deploymentName`. */
  valuesFiles: z.array(z.string()),
  targets: z.array(targetSummary),
  /** The operators' current pins. Unreadable files are omitted. */
  pins: z.array(pinnedFile),
  /** Recipients of mails about lasting failures; empty without a mail server. */
  operators: z.array(z.string()),
  /** How long a failure must last before they get a mail. */
  tellAfterMs: ms,
  /** The site's page, if the api's public URL is known. */
  pageUrl: z.string().optional(),
  notify,
  guards: guards.optional(),
  confirmations: z.array(confirmation),
  /** Whether the search attributes of names.ts are usable here. */
  searchAttributes: z.boolean(),
});
export type SiteSettings = z.infer<typeof siteSettings>;

export const ruleSettings = z.object({
  /** All rules of the site: the merge of one agent's change must prompt none of them. */
  rules: z.array(z.string()),
  /** Mail addresses of the rule's own reviewers. */
  reviewers: z.array(z.string()),
  /** Recipients of mails about failures. */
  operators: z.array(z.string()),
  quietPeriodMs: ms,
  maxPerHour: z.number(),
  /** Times after the review request, ascending; each sends one reminder if there is no review by then. */
  remindAfterMs: z.array(ms),
  expireAfterMs: ms,
  /** Whether a forge, and whether a mail server, is configured. */
  forge: z.boolean(),
  mail: z.boolean(),
  /** How long a failure must last before the operators get a mail. */
  tellAfterMs: ms,
  notify,
  /** Whether the search attributes of names.ts are usable here. */
  searchAttributes: z.boolean(),
});
export type RuleSettings = z.infer<typeof ruleSettings>;
