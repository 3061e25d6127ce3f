import { z } from 'zod';
import { startedChange } from '../../contract/agent-state.ts';
import { publishEvent } from '../../contract/publish-event.ts';
import { type RuleSettings, ruleSettings } from '../../contract/settings.ts';
import { createSeenDeliveries, isWholeBucket, type SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { type EntityRun, limitSeenDeliveries, newEntityRun, type ReadonlyState } from '../entity/continue-as-new.ts';
import { incident } from '../mails/notify-operators.ts';

/**
 * What a rule keeps from one run to the next. Everything is bounded, because the input of a run is. Numbers ending in `Ms`
 * are times of the workflow's clock; texts are RFC 3339. `transitions.ts` changes it.
 */

const ms = z.number();

/** The ids to try for the change of a delivery, in this order (change-id.ts). */
const changeKeys = z.array(z.string()).min(1).max(2);

const waiting = z.object({
  /** All collected events, including those that are no longer in `events`. */
  count: z.int().min(1),
  firstAtMs: ms,
  lastAtMs: ms,
  /** The keys of the first collected delivery. */
  changeKeys,
  /** The newest events, oldest first. */
  events: z.array(z.object({ changeKeys, event: publishEvent })).min(1),
  /** Hashes of the waiting bodies of deliveries without an id (waiting-bodies.ts). */
  bodies: z.array(z.string().max(20)).max(1_000),
  /** The `traceparent` of their requests, if traces are on (tracing/span.ts). */
  traces: z.array(z.string().max(55)).max(20).optional(),
  /** Due at once, because an operator runs an event again. */
  immediate: z.boolean(),
});
/** Events that wait to be prompted. */
export type Waiting = z.infer<typeof waiting>;

const continueAsNewInput = z.object({
  format: z.literal(1),
  /** The last known settings. */
  settings: ruleSettings.nullable(),
  /** Why the last read of the settings failed. */
  unconfigured: z.string().nullable(),
  /** The present failure and the mails about it. */
  trouble: incident.nullable(),
  waiting: waiting.nullable(),
  /** The newest event collected, for `runAgain`. */
  newest: waiting.shape.events.element.nullable(),
  /** The starts of the last hour, oldest first, for `maxPerHour`. */
  startsMs: z.array(ms),
  changes: z.array(startedChange),
  unsubscribed: z.array(z.string()),
  /** Commits that merged this rule's own pull requests, newest first. */
  ownMerges: z.array(z.string()),
  seen: z.array(z.object({ hour: z.int(), entries: z.string() }).refine(isWholeBucket, 'cut in the middle of an id')),
});
type ContinueAsNewInput = z.infer<typeof continueAsNewInput>;

export type MutableState = Omit<ContinueAsNewInput, 'seen'>;
type State = ReadonlyState<MutableState>;

/** One run of the workflow. Only `state` and `seen` are handed to the next run. */
export type RuleRun = EntityRun & {
  readonly site: string;
  readonly rule: string;
  readonly state: State;
  readonly seen: SeenDeliveries;
  /** Null until a worker knows them. */
  settings: RuleSettings | null;
  /** The operators from the settings, or from the worker that was asked for them. */
  operators: readonly string[];
  /** A change is being started: the run must not end now. */
  starting: boolean;
  /** An operator removed the rule: the workflow ends. */
  removed: boolean;
};

export function newState(): MutableState {
  return {
    format: 1,
    settings: null,
    unconfigured: null,
    trouble: null,
    waiting: null,
    newest: null,
    startsMs: [],
    changes: [],
    unsubscribed: [],
    ownMerges: [],
  };
}

/** The input of the next run. If it is too large, the oldest seen deliveries are dropped. */
export function serializeState(state: State, seen: SeenDeliveries): ContinueAsNewInput {
  return limitSeenDeliveries(continueAsNewInput.parse({ ...state, seen: seen.toBuckets() }), seen);
}

/** Throws if it can't read the input. That fails the workflow task, so nothing is lost until a fixed release runs. */
export function restoreState(input: unknown): { state: MutableState; seen: SeenDeliveries } {
  const { seen, ...state } = continueAsNewInput.parse(input);
  return { state, seen: createSeenDeliveries(seen) };
}

export function newRun(names: { site: string; rule: string }, state: State, seen: SeenDeliveries): RuleRun {
  const { site, rule } = names;
  return {
    ...newEntityRun(),
    site,
    rule,
    state,
    seen,
    settings: state.settings,
    operators: operatorsOf(state.settings),
    starting: false,
    removed: false,
  };
}

/** None without a mail server. */
export function operatorsOf(settings: RuleSettings | null): string[] {
  return settings?.mail ? settings.operators : [];
}
