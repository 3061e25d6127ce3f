import { z } from 'zod';
import { agentChangePhase, mailRecord, reviewRequestReport } from '../../contract/agent-state.ts';
import { cutText } from '../../contract/cut-text.ts';
import { publishEvent } from '../../contract/publish-event.ts';
import { pullRequestChanged, pullRequestState, review, reviewed } from '../../contract/pull-request-event.ts';
import { ruleSettings } from '../../contract/settings.ts';

/**
 * What a change remembers from one run to the next. Everything is bounded, because a run's input is. Times in
 * milliseconds are the workflow's own clock; texts are RFC 3339.
 */

/** News that came before the pull request was known to us. */
const earlyNews = z.union([pullRequestChanged, reviewed]);
export type PullRequestNews = z.infer<typeof earlyNews>;

const plan = z.object({
  title: z.string(),
  mails: z.array(z.string()),
  logins: z.array(z.string()),
  teams: z.array(z.string()),
  /** Somebody in `mails` may review under a login that isn't in `logins`. */
  unknownLogins: z.boolean().optional(),
});
export type ReviewPlan = z.infer<typeof plan>;

export const changeMemory = z.object({
  format: z.literal(1),
  /** The rule's, as a worker told them last; null before. Releases before 0.2 carried none. */
  settings: ruleSettings.nullable().default(null),
  /** Why no worker told them when they were asked for last. */
  unconfigured: z.string().nullable().default(null),
  phase: agentChangePhase,
  startedAtMs: z.number(),
  /** What the prompt is rendered from, oldest first; afterwards only the newest, which mails tell of. */
  events: z.array(publishEvent).min(1),
  eventCount: z.int().min(1),
  /** What is sent to the Admin API, from before the first request until the job is made. */
  prompt: z.object({ projectId: z.string(), prompt: z.string() }).nullable().optional(),
  job: z.object({ projectId: z.string(), jobId: z.string(), createdAtMs: z.number() }).nullable(),
  /** The service may have made a job without our hearing of it. */
  mayHaveJob: z.boolean().optional(),
  prLink: z.string().nullable(),
  /** When the pull request became known: reminders and the end count from here. */
  reviewSinceMs: z.number().nullable(),
  plan: plan.nullable(),
  /** Whether the forge was asked for reviews. */
  requested: z.boolean(),
  pullRequest: z
    .object({ title: z.string(), state: pullRequestState, mergeCommitSha: z.string().nullable() })
    .nullable(),
  error: z.string().nullable(),
  /** What the agent said last, if it changed nothing. */
  lastWords: z.string().nullable().optional(),
  backOff: z.object({ failures: z.int(), untilMs: z.number(), notBeforeMs: z.number() }).nullable(),
  notes: z.array(z.string()),
  mails: z.array(mailRecord),
  reviewRequests: reviewRequestReport,
  reviews: z.array(review),
  /** Reminders sent, and up to which of the configured times they are done with. */
  reminders: z.object({ sent: z.int(), doneUpToMs: z.number() }),
  earlyNews: z.array(earlyNews),
  /** Hashes of the deliveries of news, newest last. */
  seenNews: z.array(z.string()),
});
export type ChangeMemory = z.infer<typeof changeMemory>;

type FirstInput = Pick<ChangeMemory, 'events' | 'eventCount'> & { settings?: ChangeMemory['settings'] };

export function freshChangeMemory({ events, eventCount, settings = null }: FirstInput, nowMs: number): ChangeMemory {
  return {
    format: 1,
    settings,
    unconfigured: null,
    phase: 'prompting',
    startedAtMs: nowMs,
    events,
    eventCount,
    job: null,
    prLink: null,
    reviewSinceMs: null,
    plan: null,
    requested: false,
    pullRequest: null,
    error: null,
    backOff: null,
    notes: [],
    mails: [],
    reviewRequests: { requested: [], refused: [] },
    reviews: [],
    reminders: { sent: 0, doneUpToMs: 0 },
    earlyNews: [],
    seenNews: [],
  };
}

const MAX_TEXT = 500;
const MAX_NOTES = 20;

/** Notes something for people, once. */
export function addNote(memory: ChangeMemory, text: string): void {
  const note = cutText(text, MAX_TEXT);
  if (!memory.notes.includes(note)) memory.notes = [...memory.notes, note].slice(-MAX_NOTES);
}
