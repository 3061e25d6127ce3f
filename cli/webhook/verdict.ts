import { z } from 'zod';
import { errorCode } from '../../base/error-code.ts';
import { plainReason } from '../../base/plain-reason.ts';
import { errorBody } from '../../web/http-error.ts';
import { explainSilence } from '../explain-silence.ts';
import type { SignedDelivery } from './make-delivery.ts';

/** `unreachable`: there was no response. `refused`: the response doesn't accept the delivery. */
type Outcome = 'accepted' | 'filtered' | 'refused' | 'unreachable';

export interface Verdict {
  outcome: Outcome;
  /** Null without a response. */
  status: number | null;
  deliveryId: string | null;
  /** The ids of the workflows that accepted it. */
  accepted: string[];
  /** What the response means and what to do, in one or two sentences. */
  meaning: string;
}

/** The source's setting `answer` chooses one of them. */
const ACCEPTED_STATUSES = [200, 202];
const acceptedBody = z.object({ deliveryId: z.string(), accepted: z.array(z.string()) });

/** Explains a response to the person who sets up the webhook. `url` is where the delivery was sent. */
export function verdictOf(
  result: PostResult,
  { url, site, source }: { url: URL; site: string; source: string },
): Verdict {
  if (result.kind === 'unreachable') {
    return { outcome: 'unreachable', status: null, deliveryId: null, accepted: [], meaning: unreachable(result, url) };
  }
  const { status } = result;
  const read = acceptedBody.safeParse(result.body);
  if (!ACCEPTED_STATUSES.includes(status) || !read.success) {
    const meaning = refusal(result, { site, source });
    return { outcome: 'refused', status, deliveryId: null, accepted: [], meaning };
  }
  const { deliveryId, accepted } = read.data;
  const outcome = accepted.length === 0 ? 'filtered' : 'accepted';
  const meaning =
    outcome === 'filtered'
      ? 'The signature is right, but the delivery starts nothing: it was filtered.'
      : `Accepted by ${accepted.join(', ')}.`;
  return { outcome, status, deliveryId, accepted, meaning };
}

function unreachable({ code, reason }: Extract<PostResult, { kind: 'unreachable' }>, url: URL): string {
  if (code === 'ECONNREFUSED') {
    return `Nothing listens at ${url.origin}. Start the receiver with galley up or galley api, or set --url to its URL.`;
  }
  return `${url.origin} can't be reached: ${reason}. Check --url, or HOST and PORT.`;
}

type Answered = Extract<PostResult, { kind: 'answered' }>;

function refusal(result: Answered, { site, source }: { site: string; source: string }): string {
  const { status, retryAfter, location } = result;
  const message = errorBody.safeParse(result.body).data?.error;
  if (message === undefined) return notGalley(status, location);
  switch (status) {
    case 401:
      return (
        'The receiver could not verify it. Most likely it has another secret: it reads galley.yaml and its variables at ' +
        'startup, so restart it after a change. A clock that is wrong by minutes, or a proxy that changes the path or ' +
        'the body, has the same effect.'
      );
    case 404:
      return (
        `The receiver's galley.yaml has no sites.${site}.webhooks.${source}, unless --url has another path. The receiver ` +
        'reads the file at startup: restart it after a change.'
      );
    case 413:
      return 'The body is too large: the receiver accepts up to 1 MiB.';
    case 415:
      return `The receiver accepts only JSON (${message}): a proxy may change the content type.`;
    case 503: {
      const when = retryAfter === null ? 'Try again' : `Try again in ${retryAfter} s`;
      return `The receiver may not have stored it (${message}). ${when}, as a content system does by itself; galley doctor says what is wrong.`;
    }
    default:
      return `The receiver responded: ${message}.`;
  }
}

/** Galley's errors all have one shape, so this response comes from another program or a proxy. */
function notGalley(status: number, location: string | null): string {
  if (status >= 300 && status < 400 && location !== null) {
    return `The URL redirects to ${withoutQuery(location)}. Content systems don't follow redirects: give them, and --url, that URL.`;
  }
  return 'The response is not from Galley: another program or a proxy has this URL. Check --url, or HOST and PORT.';
}

/** Queries may hold secrets. */
function withoutQuery(location: string): string {
  return location.split(/[?#]/)[0] ?? '';
}

/** Longer than any response of the receiver takes, even without Temporal. */
const TIMEOUT_MS = 20_000;

/** The response, or why there was none. */
type PostResult =
  | { kind: 'answered'; status: number; body: unknown; retryAfter: string | null; location: string | null }
  | { kind: 'unreachable'; code: string | undefined; reason: string };

/** Sends a delivery once. Follows no redirects, as content systems don't either. */
export async function post(url: URL, { body, headers }: SignedDelivery): Promise<PostResult> {
  try {
    const sending = fetch(url, {
      method: 'POST',
      headers: { 'user-agent': 'galley webhook send', ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const response = await explainSilence(`Waiting for ${url.origin}`, sending);
    const [retryAfter, location] = ['retry-after', 'location'].map((name) => response.headers.get(name));
    const json = readJson(await response.text());
    return {
      kind: 'answered',
      status: response.status,
      body: json,
      retryAfter: retryAfter ?? null,
      location: location ?? null,
    };
  } catch (error) {
    // What `fetch` throws says only that it failed; the reason is its cause.
    const cause = Object(error).cause ?? error;
    const isLate = Object(cause).name === 'TimeoutError';
    const reason = isLate ? `there was no answer within ${TIMEOUT_MS / 1000} s` : plainReason(cause);
    return { kind: 'unreachable', code: errorCode(cause), reason };
  }
}

/** Null for a proxy's error page, whose status says enough. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
