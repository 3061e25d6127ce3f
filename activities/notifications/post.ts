import { errorCode } from '../../base/error-code.ts';
import { request } from '../../base/request.ts';
import type { OutgoingMessage } from './sign-message.ts';

/** An attempt may take this long, from the connection to the end of the response. */
const TIMEOUT_MS = 10_000;

/** Slack names the reason of a rejection in a word. */
const MAX_REASON_BYTES = 100;

export type MessageResult =
  | { status: number; reason: string; retryAfter: string | undefined; date: string | undefined }
  | { status: null; reason: string };

/**
 * Posts a message. Never follows a redirect, because it would move the message to a URL that no operator chose, and reads
 * no more of the response than a short reason. Never throws: without a response, the status is null.
 */
export async function postMessage(
  url: string,
  { headers, body }: OutgoingMessage,
  { canceled, timeoutMs = TIMEOUT_MS }: { canceled?: AbortSignal; timeoutMs?: number | undefined } = {},
): Promise<MessageResult> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = canceled ? AbortSignal.any([timeout, canceled]) : timeout;
  try {
    const response = await request(url, { method: 'POST', headers, body, signal });
    const reason = await readReason(response.body);
    const header = (name: string): string | undefined => [response.headers[name]].flat()[0];
    return { status: response.statusCode, reason, retryAfter: header('retry-after'), date: header('date') };
  } catch (error) {
    if (timeout.aborted) return { status: null, reason: `no response within ${timeoutMs / 1000} s` };
    return { status: null, reason: canceled?.aborted ? 'the worker stops' : faultOf(error) };
  }
}

/** A code such as Slack's `channel_is_archived`. Other text may repeat the URL, which is a secret. */
async function readReason(body: AsyncIterable<Uint8Array> & { destroy(): unknown }): Promise<string> {
  let text = Buffer.alloc(0);
  try {
    for await (const chunk of body) {
      text = Buffer.concat([text, chunk]).subarray(0, MAX_REASON_BYTES + 1);
      if (text.byteLength > MAX_REASON_BYTES) break;
    }
  } catch {
    // The status has arrived, and it decides.
  }
  body.destroy();
  const reason = text.toString('utf8').trim();
  return /^[a-z]+(_[a-z]+)+$/.test(reason) ? reason : '';
}

/** The error's code: its message may name the URL. */
function faultOf(error: unknown): string {
  const code = errorCode(error);
  return code !== undefined ? `the connection failed (${code})` : 'the connection failed';
}
