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

/** What the operator has set in a deployment: a pin, and whether it is switched off. */
export type PinnedFile = { valuesFile: string; pin: string | null; off: boolean };

/** Limits beyond which an export is held for review; `maxShrink` is a share of the served pages. */
const guards = z.object({
  maxShrink: z.number(),
  maxNewlyBroken: z.int(),
  startPage: z.boolean(),
  /** Missing in settings that a worker read before it existed: it holds. */
  proof: z.boolean().optional(),
});
export type Guards = z.infer<typeof guards>;

/** A deployment, without its settings and status URLs, which may hold passwords and stay with the workers. */
export const deploymentSettings = z.object({
  /** See `deploymentPlace`. */
  place: z.string(),
  /** What people call it. */
  name: z.string(),
  kind: targetKind,
  /** The machine whose workers write it; null: any worker. */
  host: z.string().nullable(),
  /** A deployment gets the newest version that all deployments of earlier waves have. */
  wave: z.int(),
  /** A person approves each version before it is written here. */
  approve: z.boolean(),
  /** False: links are written without the `integrity` of their bundle. */
  integrity: z.boolean().optional(),
  url: z.string().nullable(),
  /** How its status is asked; null without a `statusUrl`. */
  confirm: z.object({ withinMs: ms, rollback: z.boolean() }).nullable(),
});
export type DeploymentSettings = z.infer<typeof deploymentSettings>;

export const siteSettings = z.object({
  domain: z.string(),
  /** Of the site at the Admin API, whose form `project` needs it. */
  projectId: z.string().optional(),
  /** Where the site is mounted below its domain; form `project` only. */
  basePath: z.string().optional(),
  /** Starts that the Admin API allows the organization per hour, as galley.yaml says. */
  startsPerHour: z.int().optional(),
  timeoutMs: ms,
  quietPeriodMs: ms,
  maxWaitMs: ms,
  whenBusy: z.enum(['queue', 'cancel']),
  /** Share of the link's lifetime, before its expiry, at which to refresh it. */
  refreshMargin: z.number(),
  minRefreshIntervalMs: ms,
  deployments: z.array(deploymentSettings),
  /** Recipients of mails about lasting failures; empty without a mail server. */
  operators: z.array(z.string()),
  /** How long a failure must last before they get a mail. */
  tellAfterMs: ms,
  /** The site's page, if the api's public URL is known. */
  pageUrl: z.string().optional(),
  notify,
  guards: guards.optional(),
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
  /** How many reviews the agent gets as follow-ups; missing: none. */
  followUps: z.object({ max: z.int() }).optional(),
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
