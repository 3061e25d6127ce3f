import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { deploymentPlace } from '../../contract/deployment-config.ts';
import { notConfigured } from '../not-configured.ts';
import type { ReadSite } from '../sites/read-site.ts';
import { askStatus, type StatusAnswer, type WantedJob } from './ask-status.ts';

export type AskDeploymentInput = WantedJob & {
  site: string;
  /** The deployment's name. */
  valuesFile: string;
  /** `confirmWithin`. */
  withinMs: number;
  /**
   * `verdict`: returns after `withinMs`, if need be with `unknown`. `answer`: goes on until the deployment's own answers
   * suffice for `served` or `other`. `served`: until it serves the job.
   */
  until: 'verdict' | 'answer' | 'served';
};

export type DeploymentAnswer = {
  /**
   * `other`: the deployment's own answers are evidence that it doesn't serve the job. `unknown`: there is no evidence, which
   * says nothing about the job.
   */
  verdict: 'served' | 'other' | 'unknown';
  /** For people; null if it is served. */
  why: string | null;
  /** What it says that it serves; null if it doesn't say. */
  servesVersion: string | null;
  servesJobId: string | null;
};

/** How often one URL said that it doesn't serve the job. The times are those of `askedMs`. */
const tally = z.object({
  others: z.int(),
  firstMs: z.number(),
  lastMs: z.number(),
  /** Its last answer was another one. */
  open: z.boolean(),
});
type Tally = z.infer<typeof tally>;

/** What an attempt leaves to the next one, as its heartbeat. */
const progress = z.object({
  questions: z.int(),
  /** How long the deployment could be asked: the time since the first question in which a worker asked. */
  askedMs: z.number(),
  /** When the last attempt was scheduled, by Temporal's clock, and after how long the next one was due. */
  scheduledAtMs: z.number(),
  nextAfterMs: z.number(),
  tallies: z.array(tally),
});
type Progress = z.infer<typeof progress>;

/** An attempt that comes this much later than it was due has waited for a worker. */
const LATE_MS = 10_000;

/** Answers that are evidence: so many, over this share of `withinMs`, none of them missing for longer than the pause. */
const LEAST_ANSWERS = 3;
const SPREAD = 2 / 3;
const LEAST_PAUSE_MS = 10_000;

/** The first questions come each second, because most deployments need a few. */
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;

/**
 * Finds out whether a deployment serves a job, by asking each `statusUrl`. Between the questions it fails with a benign
 * `NotServed`, so that Temporal asks again by its retry policy: a question can stay open for days and takes neither history
 * nor a worker slot. The URLs are the worker's own: one may hold a password, as in
 * `https://user:password@docs.example.com/-/status`. Throws `NotConfigured`.
 */
export function createAskDeployment(readSite: ReadSite) {
  return async function askDeployment(input: AskDeploymentInput): Promise<DeploymentAnswer> {
    const urls = await statusUrlsOf(readSite, input);
    const startedMs = performance.now();
    const before = previousProgress(urls.length);
    const answers = await Promise.all(urls.map((url) => askStatus(url, input)));
    const now: Progress = {
      ...before,
      questions: before.questions + 1,
      tallies: before.tallies.map((each, index) => counted(each, answers[index], before.askedMs, input)),
    };
    const verdict = verdictOf(now, answers, input);
    const { says, version, jobId } = mostTelling(answers);
    if (verdict !== null) {
      return { verdict, why: verdict === 'served' ? null : says, servesVersion: version, servesJobId: jobId };
    }
    const delayMs = delayBefore(now, input);
    Context.current().heartbeat({ ...now, nextAfterMs: performance.now() - startedMs + delayMs } satisfies Progress);
    throw ApplicationFailure.create({
      type: 'NotServed',
      message: says,
      nextRetryDelay: delayMs,
      category: 'BENIGN',
    });
  };
}

async function statusUrlsOf(readSite: ReadSite, { site, valuesFile }: AskDeploymentInput): Promise<string[]> {
  const config = await readSite(site);
  const entry = config?.export.deployments.find((each) => deploymentPlace(each) === valuesFile);
  if (entry?.statusUrl === undefined) throw notConfigured(`the statusUrl of ${valuesFile} of the site ${site}`);
  return [entry.statusUrl].flat();
}

/** A new question counts from zero, and so does one whose URLs have changed. */
function previousProgress(urls: number): Progress {
  const { heartbeatDetails, currentAttemptScheduledTimestampMs: scheduledAtMs } = Context.current().info;
  const { data } = progress.safeParse(heartbeatDetails);
  if (data?.tallies.length !== urls) {
    const none = { others: 0, firstMs: 0, lastMs: 0, open: false };
    return { questions: 0, askedMs: 0, scheduledAtMs, nextAfterMs: 0, tallies: Array(urls).fill(none) };
  }
  const sinceMs = scheduledAtMs - data.scheduledAtMs;
  const couldAsk = sinceMs <= data.nextAfterMs + LATE_MS;
  return { ...data, scheduledAtMs, askedMs: data.askedMs + (couldAsk ? sinceMs : 0) };
}

function counted(
  before: Tally,
  answer: StatusAnswer | undefined,
  atMs: number,
  { withinMs }: AskDeploymentInput,
): Tally {
  if (answer === undefined || answer.is === 'none') return before;
  if (answer.is === 'served') return { ...before, others: 0, open: true };
  if (answer.is === 'open') return { ...before, open: true };
  const continues = before.others > 0 && atMs - before.lastMs <= Math.max(withinMs / 3, LEAST_PAUSE_MS);
  if (!continues) return { others: 1, firstMs: atMs, lastMs: atMs, open: false };
  return { ...before, others: before.others + 1, lastMs: atMs, open: false };
}

/** Null: ask again. */
function verdictOf(
  { questions, askedMs, tallies }: Progress,
  answers: readonly StatusAnswer[],
  { until, withinMs }: AskDeploymentInput,
): DeploymentAnswer['verdict'] | null {
  if (answers.every(({ is }) => is === 'served')) return 'served';
  if (until === 'served' || askedMs < withinMs || questions < LEAST_ANSWERS) return null;
  const isEvidence = ({ others, firstMs, lastMs }: Tally): boolean =>
    others >= LEAST_ANSWERS && lastMs - firstMs >= withinMs * SPREAD;
  // The last question must be answered too: a deployment that has been lost since may have the job.
  const isOther = tallies.some((each, index) => answers[index]?.is === 'other' && isEvidence(each));
  if (isOther && !tallies.some(({ open }) => open)) return 'other';
  return until === 'verdict' ? 'unknown' : null;
}

/** Of several URLs the one that matters most: what a deployment itself says, and first what is wrong. */
function mostTelling(answers: readonly StatusAnswer[]): Pick<StatusAnswer, 'says' | 'version' | 'jobId'> {
  const [first] = (['other', 'open', 'none', 'served'] as const).flatMap((kind) =>
    answers.filter(({ is }) => is === kind),
  );
  return first ?? { says: 'no answer', version: null, jobId: null };
}

/** Often enough for the evidence, and once at the end. */
function delayBefore({ questions, askedMs }: Progress, { until, withinMs }: AskDeploymentInput): number {
  const longestMs = Math.min(Math.max(withinMs / 10, FIRST_DELAY_MS), LONGEST_DELAY_MS);
  const grownMs = Math.min(FIRST_DELAY_MS * 1.2 ** Math.min(questions - 1, 50), longestMs);
  const leftMs = until === 'verdict' && askedMs < withinMs ? withinMs - askedMs : Number.POSITIVE_INFINITY;
  return Math.round(Math.min(grownMs, Math.max(leftMs, FIRST_DELAY_MS)));
}
