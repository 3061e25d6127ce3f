import { z } from 'zod';
import { parseRetryAfterMs } from '../../base/retry-after.ts';
import { ForgeError } from '../forge-error.ts';

/** What a call was for, so that an error says which right is missing. */
export type Step = {
  /** Completes "… refuses to …". */
  doing: string;
  /** Such as `acme/docs`; null if the call has no repository. */
  at: string | null;
  /** The right in the forge's words; null if any valid token has it. */
  right: string | null;
};

/** An error response of the forge. */
export type Refusal = { status: number; headers: Record<string, unknown>; said: string };

const octokitError = z.object({
  status: z.int(),
  response: z.object({ status: z.int(), headers: z.record(z.string(), z.unknown()), data: z.unknown() }),
});

/** Parses octokit's error; undefined if there was no response. */
export function refusalOf(error: unknown): Refusal | undefined {
  const { data } = octokitError.safeParse(error);
  return data && { status: data.status, headers: data.response.headers, said: saidIn(data.response.data) };
}

/**
 * Any failure of a step as a ForgeError: one sentence with what was attempted, what is missing, and what the forge
 * said.
 */
export function toForgeError(
  error: unknown,
  { name, credential, step }: { name: string; credential: string; step: Step },
): ForgeError {
  if (error instanceof ForgeError) return error;
  if (error instanceof Error && error.cause instanceof ForgeError) return error.cause;
  const refusal = refusalOf(error);
  const where = step.at === null ? '' : ` at ${step.at}`;
  if (refusal === undefined) {
    const reason = error instanceof z.ZodError ? `its answer is not what its API gives (${pathOf(error)})` : `${error}`;
    return new ForgeError(`${name} could not ${step.doing}${where}: ${reason}`, { status: null, retryable: false });
  }

  const { status, said } = refusal;
  const { limited, waitMs } = rateLimitOf({ ...refusal, message: said }, Date.now());
  const retryable = limited || status >= 500 || status === 408 || status === 425;
  const detail = said === '' ? '' : `: ${said}`;
  const needs = step.right === null ? '' : ` "${step.right}"`;
  const message = limited
    ? `${name} takes no more calls for now (${status})${detail}`
    : status === 401
      ? `${name} refuses the ${credential} (401): it is wrong, expired or revoked`
      : status === 403
        ? `${name} doesn't let this ${credential} ${step.doing}${where} (403), which needs the right${needs}${detail}`
        : status === 404
          ? `${name} could not ${step.doing}${where} (404): it isn't there, or the ${credential} lacks the right${needs}${detail}`
          : `${name} ${retryable ? 'failed' : 'refuses'} to ${step.doing}${where} (${status})${detail}`;
  return new ForgeError(message, { status, retryable, retryAfterMs: waitMs });
}

const errorBody = z.object({
  message: z.string().catch(''),
  errors: z
    .array(
      z.union([
        z.string(),
        z.object({ message: z.string() }).transform(({ message }) => message),
        z
          .object({ field: z.string(), code: z.string() })
          .transform(({ field, code }) => `${field} is ${code.replaceAll('_', ' ')}`),
      ]),
    )
    .catch([]),
});

/** The message of an error response, on one line; HTML is named as such, never quoted. */
function saidIn(data: unknown): string {
  if (typeof data === 'string' && /^\s*</.test(data)) return 'an HTML page instead of JSON';
  const body = errorBody.safeParse(data).data;
  const text = body ? [body.message, ...body.errors].filter((each) => each !== '').join(': ') : '';
  return text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 300);
}

function pathOf(error: z.ZodError): string {
  return error.issues[0]?.path.join('.') || 'the whole';
}

/** A longer wait is cut to this; the next response gives the time again. */
const MAX_WAIT_MS = 3_600_000;

/** GitHub asks for at least a minute if a secondary limit gives no time. */
const UNNAMED_WAIT_MS = 60_000;

/**
 * Whether a response refuses because of too many calls, and how long to wait. GitHub says so with 403 or 429: by
 * `Retry-After`, by `x-ratelimit-remaining: 0` and the second of `x-ratelimit-reset`, or for its secondary limits in
 * the message only (docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api). A 503 may name a time too.
 * Times are compared with the response's own `Date`, so that a wrong clock of ours does no harm.
 */
export function rateLimitOf(
  response: { status: number; headers: Readonly<Record<string, unknown>>; message: string },
  nowMs: number,
): { limited: boolean; waitMs: number | null } {
  const header = (name: string): string => String(response.headers[name] ?? '').trim();
  const theirNowMs = Date.parse(header('date')) || nowMs;
  const refused = response.status === 403 || response.status === 429;
  const retryAfterMs = parseRetryAfterMs(header('retry-after'), header('date'));
  if (retryAfterMs !== undefined && (refused || response.status === 503)) {
    return { limited: refused, waitMs: retryAfterMs };
  }
  if (!refused) return { limited: false, waitMs: null };
  const resetSeconds = Number(header('x-ratelimit-reset'));
  if (header('x-ratelimit-remaining') === '0' && resetSeconds > 0) {
    // The reset is in whole seconds: add one, so that the next call is surely after it.
    const waitMs = Math.max(0, resetSeconds * 1000 - theirNowMs) + 1000;
    return { limited: true, waitMs: Math.min(waitMs, MAX_WAIT_MS) };
  }
  const limited =
    response.status === 429 || /secondary rate limit|rate limit exceeded|abuse detection/i.test(response.message);
  return { limited, waitMs: limited ? UNNAMED_WAIT_MS : null };
}
