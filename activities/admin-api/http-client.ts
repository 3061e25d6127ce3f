import { request } from 'undici';

/** Limit for one call, including connection and body. */
export const CALL_TIMEOUT_MS = 15_000;

/** No response of this API comes near this size. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

export type AdminApiCall = {
  method: 'GET' | 'POST';
  /** Relative to the service's base URL; begins with "/". */
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Keeps only this many bytes from the end of the response. */
  endBytes?: number;
};

/** Any response, whatever its status. `body` is undefined if it wasn't JSON. */
export type AdminApiResponse = {
  status: number;
  body: unknown;
  text: string;
  contentType: string;
  date: string | undefined;
  retryAfter: string | undefined;
};

/** Thrown if the service gave no complete response: no connection, a reset, or a timeout. */
export class NoResponseError extends Error {
  override readonly name = 'NoResponseError';
}

/** Sends one call with the key. Never follows redirects: the key belongs to the configured URL only. */
export type AdminApiClient = (call: AdminApiCall, cancelled?: AbortSignal) => Promise<AdminApiResponse>;

/**
 * Makes an Admin API client.
 * @param options `url`: the base URL, with or without a path prefix; `key`: the bearer key; `timeoutMs`: for one call.
 * @throws NoResponseError from the calls.
 */
export function createAdminApiClient(options: { url: string; key: string; timeoutMs?: number }): AdminApiClient {
  const base = options.url.replace(/\/+$/, '');
  const timeoutMs = options.timeoutMs ?? CALL_TIMEOUT_MS;

  return async ({ method, path, body, headers = {}, endBytes }, cancelled) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = cancelled ? AbortSignal.any([timeout, cancelled]) : timeout;
    try {
      const response = await request(`${base}${path}`, {
        method,
        signal,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${options.key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = endBytes === undefined ? await readText(response.body) : await readEnd(response.body, endBytes);
      const header = (name: string): string | undefined => [response.headers[name]].flat()[0];
      return {
        status: response.statusCode,
        body: parseJson(text),
        text,
        contentType: header('content-type') ?? '',
        date: header('date'),
        retryAfter: header('retry-after'),
      };
    } catch (error) {
      if (cancelled?.aborted) throw error;
      const reason = timeout.aborted ? `no answer within ${timeoutMs / 1000} s` : describeFault(error);
      throw new NoResponseError(`${method} ${path}: ${reason}`);
    }
  };
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > MAX_RESPONSE_BYTES) throw new Error(`the response is longer than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function readEnd(body: AsyncIterable<Uint8Array>, endBytes: number): Promise<string> {
  let end = Buffer.alloc(0);
  for await (const chunk of body) end = Buffer.concat([end, chunk]).subarray(-endBytes);
  return end.toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describeFault(error: unknown): string {
  const read = (name: string): string => {
    const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
    return typeof value === 'string' ? value : '';
  };
  const code = read('code');
  return `${read('message') || 'the connection failed'}${code === '' ? '' : ` (${code})`}`;
}
