import { request } from '../base/request.ts';
import { parseRetryAfterMs } from '../base/retry-after.ts';
import { adminApiKey, adminApiUrl } from '../contract/admin-api.ts';
import { AdminApiError, type AdminApiFailure, isSuccess } from './admin-api-error.ts';
import { pause, withDeadline } from './deadline.ts';
import { errorReason, faultReason } from './error-reason.ts';
import { type RetryPolicy, requestRetryDelayMs } from './retry-delay.ts';
import { parseTimestampMs } from './timestamps.ts';

/** A response of the service, whatever its status. */
export type AdminApiResponse = {
  status: number;
  requestId: string | null;
  /** The service's clock (`Date`), in milliseconds since 1970. */
  dateMs: number | null;
  retryAfterMs: number | null;
  contentType: string;
  text: string;
  /** Undefined if `text` isn't JSON. */
  body: unknown;
};

export type RequestOptions = {
  /** Ends the request and its retries: the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The limit for one attempt including the response's body, in milliseconds. */
  timeoutMs?: number | undefined;
  /** Called with each complete response, for what a result leaves out. */
  onResponse?: ((response: AdminApiResponse) => void) | undefined;
};

/** Options of requests that create something. */
export type CreateOptions = RequestOptions & {
  /** The same key creates nothing twice; each call makes its own by default. */
  idempotencyKey?: string | undefined;
};

export type AdminApiClientOptions = {
  /** The base URL, with or without a path. */
  url: string;
  /** An admin API key. */
  key: string;
  /** Must respect `init.signal` and `init.redirect`. By default, the client makes its requests without `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** The limit for one attempt, in milliseconds; 15 s by default. */
  timeoutMs?: number | undefined;
  /** `false` for a caller that retries itself. */
  retry?: RetryPolicy | false | undefined;
};

export type AdminApiRequest = {
  method: 'GET' | 'POST';
  /** Begins with "/". */
  path: string;
  body?: unknown;
  idempotencyKey?: string;
  /** A longer success is an error, and the body of a longer error is cut; 4 MiB by default. */
  maxBytes?: number;
  /** Keeps only this many bytes from the end of the response, however long it is. */
  endBytes?: number;
};

/** Resolves with a 2xx. @throws AdminApiError for everything else, and the signal's reason. */
export type SendRequest = (request: AdminApiRequest, options: RequestOptions) => Promise<AdminApiResponse>;

const MAX_BYTES = 4 * 1024 * 1024;

/** A shorter key is no secret, and masking it would garble every message. */
const SECRET_CHARACTERS = 8;

/** @throws TypeError if the URL or the key can't be used. */
export function createSendRequest(options: AdminApiClientOptions): SendRequest {
  const base = checked('url', adminApiUrl.safeParse(options.url)).replace(/\/+$/, '');
  const key = checked('key', adminApiKey.safeParse(options.key));
  const { fetch = httpRequest, timeoutMs: usualTimeoutMs = 15_000, retry = {} } = options;
  const policy = retry === false ? { attempts: 1 } : retry;

  const failure = ({ method, path }: AdminApiRequest, known: AdminApiFailure): AdminApiError => {
    const reason = key.length < SECRET_CHARACTERS ? known.reason : known.reason.replaceAll(key, '[key]');
    return new AdminApiError(`${method} ${path}`, { ...known, reason });
  };

  async function attempt(request: AdminApiRequest, { signal, timeoutMs = usualTimeoutMs, onResponse }: RequestOptions) {
    const noResponse = (reason: string): AdminApiError => failure(request, { status: null, reason });
    const error = (): AdminApiError => noResponse(`no answer within ${timeoutMs / 1000} s`);
    const response = await withDeadline({ timeoutMs, signal, error }, async (deadline) => {
      try {
        const { method, path, body } = request;
        const init = { method, headers: headersOf(request, key), redirect: 'manual', signal: deadline } as const;
        const raw = await fetch(`${base}${path}`, body === undefined ? init : { ...init, body: JSON.stringify(body) });
        return await readResponse(raw, request);
      } catch (fault) {
        throw noResponse(faultReason(fault));
      }
    });
    onResponse?.(response);
    if (!isSuccess(response.status)) throw failure(request, { ...response, reason: errorReason(response) });
    return response;
  }

  return async (request, options) => {
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt(request, options);
      } catch (error) {
        const delayMs = error instanceof AdminApiError ? requestRetryDelayMs(error, attempts, policy) : undefined;
        if (delayMs === undefined) throw error;
        await pause(delayMs, options.signal);
      }
    }
  };
}

type Parsed = { success: true; data: string } | { success: false; error: { issues: { message: string }[] } };

/** Never quotes the value: it may be the key. */
function checked(name: string, parsed: Parsed): string {
  if (parsed.success) return parsed.data;
  throw new TypeError(`${name}: ${parsed.error.issues[0]?.message}`);
}

function headersOf({ body, idempotencyKey }: AdminApiRequest, key: string): Record<string, string> {
  return {
    accept: 'application/json',
    authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
}

async function readResponse(response: HttpResponse, request: AdminApiRequest): Promise<AdminApiResponse> {
  const { status, headers, body } = response;
  const text = body === null ? '' : await readText(body, request, isSuccess(status));
  const date = headers.get('date') ?? undefined;
  return {
    status,
    requestId: headers.get('x-request-id')?.slice(0, 200) ?? null,
    dateMs: parseTimestampMs(date) ?? null,
    retryAfterMs: parseRetryAfterMs(headers.get('retry-after') ?? undefined, date) ?? null,
    contentType: headers.get('content-type') ?? '',
    text,
    body: parseJson(text),
  };
}

async function readText(
  body: AsyncIterable<Uint8Array>,
  { maxBytes = MAX_BYTES, endBytes }: AdminApiRequest,
  isWhole: boolean,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.byteLength;
    chunks.push(chunk);
    if (endBytes !== undefined) chunks.splice(0, chunks.length, Buffer.concat(chunks).subarray(-endBytes));
    else if (sizeBytes > maxBytes) {
      if (isWhole) throw new Error(`the response is longer than ${maxBytes} bytes`);
      break;
    }
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the client uses of `RequestInit`. */
type HttpInit = {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  redirect: 'manual';
  signal: AbortSignal;
};

/** What the client reads of a `Response`. */
type HttpResponse = {
  status: number;
  headers: { get(name: string): string | null };
  body: AsyncIterable<Uint8Array> | null;
};

/**
 * Sends a request and follows no redirect. Unlike `fetch`, it also reaches ports that browsers block, such as 6000 and
 * 10080.
 */
async function httpRequest(url: string, { method, headers: sent, body = '', signal }: HttpInit): Promise<HttpResponse> {
  // The signal limits the whole request.
  const noLimits = { headersTimeout: 0, bodyTimeout: 0 };
  const response = await request(url, { ...noLimits, method, headers: sent, body: body || null, signal });
  const get = (name: string): string | null => [response.headers[name]].flat()[0] ?? null;
  return { status: response.statusCode, headers: { get }, body: response.body };
}
