import { errorBody } from '../../../web/http-error.ts';
import type { OpenApiCheck } from '../../helpers/openapi-check.ts';
import { OPERATOR_TOKEN } from '../../helpers/platform-api.ts';

type RequestOptions = { key?: string; body?: unknown; raw?: string | undefined; headers?: Record<string, string> };

type ApiResponse = { status: number; headers: Headers; text: string; body: unknown; error: string };

export type ApiClient = ReturnType<typeof createApiClient>;

/** Sends requests. If `check` is given, it checks the responses of documented paths against the OpenAPI document. */
export function createApiClient(baseUrl: string, check?: OpenApiCheck) {
  async function request(
    method: string,
    path: string,
    { key, body, raw, headers = {} }: RequestOptions = {},
  ): Promise<ApiResponse> {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(raw !== undefined && { body: Buffer.from(raw) }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isText = response.headers.get('content-type') === 'text/plain; charset=utf-8';
    const parsed: unknown = isText ? text : JSON.parse(text);
    if (/^\/v[12]\//.test(path)) check?.check(method, path.split('?')[0] ?? '', response, parsed);
    expect(response.headers.get('x-request-id')).toMatch(/^[\w.-]+$/);
    const error = response.status < 400 ? '' : errorBody.strict().parse(parsed).error;
    return { status: response.status, headers: response.headers, text, body: parsed, error };
  }

  return {
    request,
    get: (path: string, options?: RequestOptions) => request('GET', path, options),
    post: (path: string, options?: RequestOptions) => request('POST', path, options),
    adminPost: (path: string, body: unknown) => request('POST', path, { key: OPERATOR_TOKEN, body }),
    setPlan: (organization: string, plan: 'enterprise' | 'free') =>
      request('PATCH', '/admin/organizations', { key: OPERATOR_TOKEN, body: { organization, plan } }),
  };
}
