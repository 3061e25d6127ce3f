import { errorCode, errorText } from '../../base/error-code.ts';
import type { SignedDelivery } from './make-delivery.ts';

/** Longer than any response of the receiver takes, even without Temporal. */
const TIMEOUT_MS = 20_000;

/** The response, or why there was none. */
export type PostResult =
  | { kind: 'answered'; status: number; body: unknown; retryAfter: string | null; location: string | null }
  | { kind: 'unreachable'; code: string | undefined; reason: string };

/** Sends a delivery once. Follows no redirects, as content systems don't either. */
export async function post(url: URL, { body, headers }: SignedDelivery): Promise<PostResult> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'user-agent': 'galley webhook send', ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
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
    return { kind: 'unreachable', code: errorCode(cause), reason: errorText(cause) };
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
