import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { spreadMs } from '../../contract/duration.ts';
import { heartbeatWhile } from '../heartbeat.ts';
import type { ExportProgress } from './answer-fields.ts';
import type { AdminApiAnswer, AdminApiCall, AdminApiClient } from './http-client.ts';
import { NoAnswerError } from './http-client.ts';
import type { Operation, Verdict } from './outcomes.ts';
import { describeAnswer, finalFailure, isSuccess, retryAfterOf, verdictOf } from './outcomes.ts';

/** Trouble that passes within this time is Temporal's to retry; after it the workflow is told, so that the state shows it. */
const PATIENCE_MS = 60_000;

/** A Retry-After up to this is waited for here; a longer one is handed to the workflow, which can show and carry it. */
const SHORT_WAIT_MS = 30_000;

/** Every heartbeat of these activities: `GET /sites/{site}` shows the progress, the next attempt reads `troubleSinceMs`. */
export type HeartbeatDetails = ExportProgress & { troubleSinceMs: number | null };

/** The verdicts that the table leaves to the operation; the others have become failures. */
export type OwnVerdict = Extract<Verdict, 'gone' | 'busy' | 'not-ready' | 'finished' | 'unsupported'>;

export type PatientCall = (
  operation: Operation,
  call: AdminApiCall,
) => Promise<{ verdict: 'success' | OwnVerdict; answer: AdminApiAnswer }>;

/**
 * Calls the Admin API from within an activity: heartbeats while it waits, and throws an ApplicationFailure for every
 * outcome that is the same for all operations.
 */
export function createPatientCall(client: AdminApiClient): PatientCall {
  return async (operation, call) => {
    const answer = await answerOf(client, call);
    if (isSuccess(answer)) return { verdict: 'success', answer };
    const verdict = verdictOf(operation, answer);
    const message = describeAnswer(call, answer);
    switch (verdict) {
      case 'key-refused':
        throw finalFailure('KeyRefused', message, answer.status);
      case 'rejected':
        throw finalFailure('Rejected', message, answer.status);
      case 'later':
        throw laterFailure(message, answer.status, retryAfterOf(answer));
      case 'retry':
        throw troubleFailure(message, answer.status, retryAfterOf(answer));
      default:
        heartbeat({ ...lastHeartbeat(), troubleSinceMs: null });
        return { verdict, answer };
    }
  };
}

/** Retried by Temporal's back-off at first; once it has lasted longer than a minute it is the workflow's. */
export function troubleFailure(
  message: string,
  status: number | null,
  retryAfterMs: number | null = null,
): ApplicationFailure {
  const sinceMs = lastHeartbeat().troubleSinceMs ?? Date.now();
  heartbeat({ ...lastHeartbeat(), troubleSinceMs: sinceMs });
  if (retryAfterMs !== null) return laterFailure(message, status, retryAfterMs);
  if (Date.now() - sinceMs >= PATIENCE_MS) return finalFailure('Unavailable', message, status);
  return ApplicationFailure.create({ type: 'Unavailable', message, details: [{ status, retryAfterMs }] });
}

/** Heartbeats a job's progress. The trouble, if there was any, is over. */
export function reportProgress(progress: ExportProgress): void {
  heartbeat({ ...progress, troubleSinceMs: null });
}

function laterFailure(message: string, status: number | null, retryAfterMs: number | null): ApplicationFailure {
  const waitMs = retryAfterMs ?? SHORT_WAIT_MS;
  if (waitMs > SHORT_WAIT_MS) return finalFailure('RateLimited', message, status, waitMs);
  return ApplicationFailure.create({
    type: 'RateLimited',
    message,
    // A wait of zero would be a hot loop against a service that asks for rest.
    nextRetryDelay: Math.max(spreadMs(waitMs, Context.current().info.attempt, Math.random()), 1_000),
    details: [{ status, retryAfterMs: waitMs }],
  });
}

async function answerOf(client: AdminApiClient, call: AdminApiCall): Promise<AdminApiAnswer> {
  try {
    // A cancelled activity lets its call end: whether a create was accepted must be known.
    return await heartbeatWhile(() => client(call), lastHeartbeat());
  } catch (error) {
    if (error instanceof NoAnswerError) throw troubleFailure(error.message, null);
    throw error;
  }
}

/** What this attempt has told so far: the context itself only knows the last attempt's. */
const told = new WeakMap<Context, HeartbeatDetails>();

function heartbeat(details: HeartbeatDetails): void {
  told.set(Context.current(), details);
  Context.current().heartbeat(details);
}

function lastHeartbeat(): HeartbeatDetails {
  const now = told.get(Context.current());
  if (now !== undefined) return now;
  const details: unknown = Context.current().info.heartbeatDetails;
  const read = (name: string): number | null => {
    const value = typeof details === 'object' && details !== null ? Reflect.get(details, name) : null;
    return typeof value === 'number' ? value : null;
  };
  return { percent: read('percent'), pageCount: read('pageCount'), troubleSinceMs: read('troubleSinceMs') };
}
