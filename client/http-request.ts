import { request } from '../base/request.ts';

/** What the client uses of `RequestInit`. */
type HttpInit = {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  redirect: 'manual';
  signal: AbortSignal;
};

/** What the client reads of a `Response`. */
export type HttpResponse = {
  status: number;
  headers: { get(name: string): string | null };
  body: AsyncIterable<Uint8Array> | null;
};

/**
 * Sends a request and follows no redirect. Unlike `fetch`, it also reaches ports that browsers block, such as 6000 and
 * 10080.
 */
export async function httpRequest(
  url: string,
  { method, headers: sent, body = '', signal }: HttpInit,
): Promise<HttpResponse> {
  // The signal limits the whole request.
  const noLimits = { headersTimeout: 0, bodyTimeout: 0 };
  const response = await request(url, { ...noLimits, method, headers: sent, body: body || null, signal });
  const get = (name: string): string | null => [response.headers[name]].flat()[0] ?? null;
  return { status: response.statusCode, headers: { get }, body: response.body };
}
