import { errorCode, errorText } from '../../embedded/report.ts';
import type { SignedDelivery } from './make-delivery.ts';

/** Longer than the receiver takes for anything, Temporal's absence included. */
const TIMEOUT_MS = 20_000;

/** What came back from the address, or why nothing did. */
export type Answer =
  | { kind: 'answered'; status: number; body: unknown; retryAfter: string | null; location: string | null }
  | { kind: 'unreachable'; code: string | undefined; reason: string };

/** Sends a delivery once, and follows no redirect: no content system does. */
export async function post(url: URL, { body, headers }: SignedDelivery): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'user-agent': 'galley webhook send', ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const [retryAfter, location] = ['retry-after', 'location'].map((name) => response.headers.get(name));
    const answer = readJson(await response.text());
    return {
      kind: 'answered',
      status: response.status,
      body: answer,
      retryAfter: retryAfter ?? null,
      location: location ?? null,
    };
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return { kind: 'unreachable', code: errorCode(cause), reason: errorText(cause) };
  }
}

/** A proxy's page is no JSON, and tells nothing that its status doesn't. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
