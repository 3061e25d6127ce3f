import { z } from 'zod';
import { startedChange } from '../../contract/agent-state.ts';
import { publishEvent } from '../../contract/publish-event.ts';
import { ruleSettings } from '../../contract/settings.ts';
import { createSeenDeliveries, isWholeBucket, type SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { trouble } from '../mails/tell-operators.ts';

/**
 * What a rule's workflow remembers from one run to the next. Everything is bounded, because a run's input is. Times in
 * milliseconds are the workflow's own clock; texts are RFC 3339.
 */

const ms = z.number();

/** The ids that a change may get by a delivery, in the order in which they are tried; see change-id.ts. */
const changeKeys = z.array(z.string()).min(1).max(2);

const waiting = z.object({
  /** Events not yet prompted, those included that are no longer in `events`. */
  count: z.int().min(1),
  firstAtMs: ms,
  lastAtMs: ms,
  /** By the first delivery collected. */
  changeKeys,
  /** The newest, oldest first. */
  events: z.array(z.object({ changeKeys, event: publishEvent })).min(1),
  /** Hashes of the bodies that wait, of deliveries without a vendor's id. Releases before 0.2 carried none. */
  bodies: z.array(z.string().max(20)).max(1_000).default([]),
});
export type Waiting = z.infer<typeof waiting>;

const ruleMemory = z.object({
  format: z.literal(1),
  /** As a worker told them last; null before. Releases before 0.2 carried none. */
  settings: ruleSettings.nullable().default(null),
  /** Why no worker told them when they were asked for last. */
  unconfigured: z.string().nullable().default(null),
  /** Since when no worker knew the rule, and what became of the mails about it. Releases before 0.2 carried none. */
  trouble: trouble.nullable().default(null),
  waiting: waiting.nullable(),
  /** When the changes of the last hour were started, oldest first: what `maxPerHour` counts. */
  startsMs: z.array(ms),
  changes: z.array(startedChange),
  unsubscribed: z.array(z.string()),
  /** Commits that merged this rule's own pull requests, newest first. */
  ownMerges: z.array(z.string()),
  seen: z.array(z.object({ hour: z.int(), entries: z.string() }).refine(isWholeBucket, 'cut in the middle of an id')),
});

/** As carried. */
export type CarriedRule = z.infer<typeof ruleMemory>;

/** As worked with: the seen deliveries stand beside it. */
export type RuleMemory = Omit<CarriedRule, 'seen'>;

export function freshRuleMemory(): RuleMemory {
  return {
    format: 1,
    settings: null,
    unconfigured: null,
    trouble: null,
    waiting: null,
    startsMs: [],
    changes: [],
    unsubscribed: [],
    ownMerges: [],
  };
}

/** Temporal ends a workflow whose input passes 2 MB; a quarter of that is never passed here. */
export const MAX_RULE_CARRY_BYTES = 512_000;

/** Makes the next run's input. Where it would be too large, the oldest seen deliveries are left behind. */
export function toRuleCarry(memory: RuleMemory, seen: SeenDeliveries): CarriedRule {
  const whole = ruleMemory.parse({ ...memory, seen: seen.toBuckets() });
  for (let limit = 10_000; byteLength(whole) > MAX_RULE_CARRY_BYTES; limit = Math.floor(limit / 2)) {
    whole.seen = limit === 0 ? [] : seen.toBuckets(limit);
    if (limit === 0) break;
  }
  return whole;
}

/**
 * Reads what the last run handed over. An unreadable carry throws, which fails the workflow task: the rule waits for
 * code that can read it rather than losing what it knows.
 */
export function fromRuleCarry(carry: unknown): { memory: RuleMemory; seen: SeenDeliveries } {
  const { seen, ...memory } = ruleMemory.parse(carry);
  return { memory, seen: createSeenDeliveries(seen) };
}

function byteLength(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).byteLength;
}
