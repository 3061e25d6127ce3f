import { errorCode } from '../base/error-code.ts';
import { plainReason } from '../base/plain-reason.ts';
import { errorBody } from '../web/http-error.ts';
import { CommandError, UsageError } from './command-error.ts';
import { explainSilence } from './explain-silence.ts';

const TIMEOUT_MS = 20_000;

export interface JsonRequest {
  url: URL;
  token: string;
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  timeoutMs?: number;
}

/** The service has no such thing. */
export class NotFound extends CommandError {}

/** The service can't do that now, because of the state that the thing has. */
export class Conflict extends CommandError {}

/**
 * Calls a Galley service for a command; resolves with the response's JSON (null for no body).
 * @throws UsageError (400) or CommandError with the service's message, or if it can't be reached.
 */
export async function requestJson({
  url,
  token,
  method = 'GET',
  body,
  headers,
  timeoutMs = TIMEOUT_MS,
}: JsonRequest): Promise<unknown> {
  // Unlike `fetch`, this also reaches ports that browsers block. Loaded here, because most commands make no request.
  const { request } = await import('undici');
  const response = await explainSilence(
    `Waiting for ${url.origin}`,
    request(url, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  ).catch((error: unknown) => {
    if (errorCode(error) === 'ECONNREFUSED') throw nothingListens(url);
    throw new CommandError(`${url.origin} can't be reached: ${plainReason(error)}`);
  });
  const { statusCode } = response;
  const text = await response.body.text();
  if (statusCode === 400) throw new UsageError(said(text));
  if (statusCode === 401) throw new CommandError(`OPERATOR_TOKEN: ${url.origin} was started with another token`);
  if (statusCode === 404) throw new NotFound(said(text));
  if (statusCode === 409) throw new Conflict(said(text));
  if (statusCode > 499) throw new CommandError(`${url.origin}: ${said(text)}. galley doctor says what is wrong`);
  if (statusCode < 200 || statusCode > 299) throw new CommandError(said(text));
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`${url.origin} is no Galley service: it returned something other than JSON. Check its URL`);
  }
}

export function nothingListens({ origin }: URL): CommandError {
  return new CommandError(`Nothing listens at ${origin}. Start galley up or galley api, or name its URL with --url`);
}

function said(text: string): string {
  try {
    return errorBody.parse(JSON.parse(text)).error;
  } catch {
    // For example a proxy's page, on one line.
    return text.replace(/\s+/g, ' ').trim().slice(0, 200) || 'it gave no reason';
  }
}
