import { z } from 'zod';
import { errorBody } from '../../contract/http-error.ts';
import type { Answer } from './post.ts';

/** `unreachable`: nothing answered. `refused`: something did, and did not say that it took the delivery. */
export type Outcome = 'accepted' | 'filtered' | 'refused' | 'unreachable';

export interface Verdict {
  outcome: Outcome;
  /** Null where nothing answered. */
  status: number | null;
  deliveryId: string | null;
  /** The workflows that hold it. */
  accepted: string[];
  /** What the answer means and what to do, in one or two sentences. */
  meaning: string;
}

/** The source's setting `answer` chooses between them. */
const TAKEN = [200, 202];
const taken = z.object({ deliveryId: z.string(), accepted: z.array(z.string()) });

/** What an answer means to whoever sets up a webhook. `url` is where the delivery went. */
export function verdictOf(answer: Answer, { url, site, source }: { url: URL; site: string; source: string }): Verdict {
  if (answer.kind === 'unreachable') {
    return { outcome: 'unreachable', status: null, deliveryId: null, accepted: [], meaning: unreachable(answer, url) };
  }
  const { status } = answer;
  const read = taken.safeParse(answer.body);
  if (!TAKEN.includes(status) || !read.success) {
    const meaning = refusal(answer, { site, source });
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

function unreachable({ code, reason }: Extract<Answer, { kind: 'unreachable' }>, url: URL): string {
  if (code === 'ECONNREFUSED') {
    return `Nothing listens at ${url.origin}. Start it with npm start (galley up) or galley api, or say in --url where it answers.`;
  }
  return `${url.origin} can't be reached: ${reason}. Is --url, or HOST and PORT, where the receiver answers?`;
}

type Answered = Extract<Answer, { kind: 'answered' }>;

function refusal(answer: Answered, { site, source }: { site: string; source: string }): string {
  const { status, retryAfter, location } = answer;
  const said = errorBody.safeParse(answer.body).data?.error;
  if (said === undefined) return notGalley(status, location);
  switch (status) {
    case 401:
      return (
        'The receiver could not verify it. Most likely it has another secret: galley.yaml and its variables are read at ' +
        'start, so restart it after a change. A clock that is wrong by minutes, or a proxy that changes the path or the ' +
        'body, does the same.'
      );
    case 404:
      return (
        `The receiver's galley.yaml has no sites.${site}.webhooks.${source}, unless --url names another path. It reads ` +
        'the file at start: restart it after a change.'
      );
    case 413:
      return 'The body is too large: the receiver takes up to 1 MiB.';
    case 415:
      return `The receiver takes JSON only (${said}): something on the way changes the content type.`;
    case 503: {
      const when = retryAfter === null ? 'Try again' : `Try again in ${retryAfter} s`;
      return `The receiver can't keep it now (${said}), and may not have taken it. ${when}: a content system does so by itself.`;
    }
    default:
      return `The receiver said: ${said}.`;
  }
}

/** Every error of ours has the same body, so this is another program or a proxy. */
function notGalley(status: number, location: string | null): string {
  if (status >= 300 && status < 400 && location !== null) {
    return `The address leads on to ${withoutQuery(location)}. Content systems don't follow: give them, and --url, that address.`;
  }
  return 'That is no answer of Galley: another program or a proxy is at this address. See --url, or HOST and PORT.';
}

/** Queries may hold what is nobody's business. */
function withoutQuery(location: string): string {
  return location.split(/[?#]/)[0] ?? '';
}
