import { z } from 'zod';
import {
  type AgentChangePhase,
  agentChangePhase,
  mailRecord,
  reviewRequestReport,
} from '../../contract/agent-state.ts';
import { publishEvent } from '../../contract/publish-event.ts';
import {
  changeRequest,
  pullRequestChanged,
  pullRequestState,
  review,
  reviewed,
} from '../../contract/pull-request-event.ts';
import { type RuleSettings, ruleSettings } from '../../contract/settings.ts';
import { type EntityRun, newEntityRun, type ReadonlyState } from '../entity/continue-as-new.ts';
import { outbox } from '../notifications/outbox.ts';

/**
 * What a change keeps from one run to the next. Everything is bounded, because the input of a run is. Numbers ending in
 * `Ms` are times of the workflow's clock; texts are RFC 3339. `transitions.ts`, `events.ts` and `retryUntil` change it.
 */

const pullRequestEvent = z.union([pullRequestChanged, reviewed]);
export type PullRequestEvent = z.infer<typeof pullRequestEvent>;

const plan = z.object({
  title: z.string(),
  mails: z.array(z.string()),
  logins: z.array(z.string()),
  teams: z.array(z.string()),
  /** Someone in `mails` may review with a login that isn't in `logins`. */
  unknownLogins: z.boolean(),
});
/** Who reviews the pull request. */
export type ReviewPlan = z.infer<typeof plan>;

const followUps = z.object({
  /** An event told of a review that requests changes; the forge has to be read for its id. */
  unread: z.boolean(),
  /** Reviews that request changes, oldest first. */
  pending: z.array(changeRequest),
  /** The ids of those that are done with, newest last. */
  handled: z.array(z.string()),
  /** The review that is passed to the agent. The prompt is kept until the service accepted it. */
  current: z
    .object({ review: changeRequest, prompt: z.string().nullable(), sentAtMs: z.number().nullable() })
    .nullable(),
  last: changeRequest.nullable(),
  /** Accepted follow-ups. */
  sent: z.int(),
  /** Why a person has to take over; null if none has to. */
  person: z.string().nullable(),
  /** How often a person was asked. */
  asked: z.int(),
});

const NO_FOLLOW_UPS: z.infer<typeof followUps> = {
  unread: false,
  pending: [],
  handled: [],
  current: null,
  last: null,
  sent: 0,
  person: null,
  asked: 0,
};

const continueAsNewInput = z.object({
  format: z.literal(1),
  /** The last known settings of the rule. */
  settings: ruleSettings,
  /** Why the last read of the settings failed. */
  unconfigured: z.string().nullable(),
  phase: agentChangePhase,
  startedAtMs: z.number(),
  /** The events of the prompt, oldest first. Once it is rendered, only the newest, for mails. */
  events: z.array(publishEvent).min(1),
  eventCount: z.int().min(1),
  /** The rendered prompt, from before the first request until the job is created. */
  prompt: z.object({ projectId: z.string(), prompt: z.string() }).nullable(),
  job: z.object({ projectId: z.string(), jobId: z.string(), createdAtMs: z.number() }).nullable(),
  /** The service may have created a job, but its response was lost. */
  mayHaveJob: z.boolean(),
  prLink: z.string().nullable(),
  /** When the pull request became known. Reminders and the expiry count from here. */
  reviewSinceMs: z.number().nullable(),
  plan: plan.nullable(),
  /** Reviews were requested on the forge. */
  requested: z.boolean(),
  pullRequest: z
    .object({
      title: z.string(),
      state: pullRequestState,
      mergeCommitSha: z.string().nullable(),
      /** The time of the newest event; empty if none is known. */
      eventAt: z.string(),
    })
    .nullable(),
  error: z.string().nullable(),
  /** The agent's last message, if it changed nothing. */
  lastWords: z.string().nullable(),
  backOff: z.object({ failures: z.int(), untilMs: z.number(), notBeforeMs: z.number() }).nullable(),
  notes: z.array(z.string()),
  mails: z.array(mailRecord),
  reviewRequests: reviewRequestReport,
  reviews: z.array(review),
  /** Earlier releases have none. */
  followUps: followUps.default(NO_FOLLOW_UPS),
  /** The number of reminders, and the last of the configured times they cover. */
  reminders: z.object({ sent: z.int(), doneUpToMs: z.number() }),
  /** Events that arrived before the pull request was known. */
  earlyNews: z.array(pullRequestEvent),
  /** Hashes of the deliveries of events, newest last. */
  seenNews: z.array(z.string()),
  /** What is reported to the targets of `notify`. */
  outbox,
});

export type MutableState = z.infer<typeof continueAsNewInput>;
export type State = ReadonlyState<MutableState>;

/** One run of the workflow. Only `state` is handed to the next run. */
export type ChangeRun = EntityRun & {
  readonly site: string;
  readonly rule: string;
  readonly state: State;
  settings: RuleSettings;
  /** Calls during which the run must not continue as new. */
  callsInProgress: number;
  /** Addresses (lower case) whose review mail is being sent, which a slow mail server may delay for long. */
  mailing: Set<string>;
  cancelRequested: boolean;
  /** The workflow ends. */
  done: boolean;
};

const ENDED: readonly AgentChangePhase[] = ['merged', 'closed', 'expired', 'unchanged', 'failed', 'cancelled'];

/** The change has ended. Only notifications are left, unless someone reopens its closed pull request. */
export function isOver(phase: AgentChangePhase): boolean {
  return ENDED.includes(phase);
}

type FirstInput = Pick<MutableState, 'events' | 'eventCount' | 'settings'>;

export function newState({ events, eventCount, settings }: FirstInput, nowMs: number): MutableState {
  return {
    format: 1,
    settings,
    unconfigured: null,
    phase: 'prompting',
    startedAtMs: nowMs,
    events,
    eventCount,
    prompt: null,
    job: null,
    mayHaveJob: false,
    prLink: null,
    reviewSinceMs: null,
    plan: null,
    requested: false,
    pullRequest: null,
    error: null,
    lastWords: null,
    backOff: null,
    notes: [],
    mails: [],
    reviewRequests: { requested: [], refused: [] },
    reviews: [],
    followUps: NO_FOLLOW_UPS,
    reminders: { sent: 0, doneUpToMs: 0 },
    earlyNews: [],
    seenNews: [],
    outbox: [],
  };
}

/** Throws if it can't read the input. That fails the workflow task, so nothing is lost until a fixed release runs. */
export function restoreState(input: unknown): MutableState {
  return continueAsNewInput.parse(input);
}

export function newRun({ site, rule }: { site: string; rule: string }, state: State): ChangeRun {
  return {
    ...newEntityRun(),
    site,
    rule,
    state,
    settings: state.settings,
    callsInProgress: 0,
    mailing: new Set(),
    cancelRequested: false,
    done: false,
  };
}

/** The run doesn't continue as new during the call. */
export async function inProgress<T>(run: ChangeRun, call: () => Promise<T>): Promise<T> {
  run.callsInProgress++;
  try {
    return await call();
  } finally {
    run.callsInProgress--;
  }
}
