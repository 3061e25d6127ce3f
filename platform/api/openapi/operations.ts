import { type JsonSchema, refTo } from './json-schemas.ts';

type HeaderSchema = { type: 'string'; pattern: string } | { type: 'integer'; minimum: number };
type Headers = Record<string, { description: string; required: boolean; schema: HeaderSchema }>;

type ResponseObject = { description: string; headers: Headers; content: JsonSchema; links?: JsonSchema };

/** One OpenAPI operation. */
export type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: JsonSchema[];
  requestBody?: { required: boolean; content: JsonSchema };
  responses: Record<string, ResponseObject>;
};

export const requestId: Headers = {
  'X-Request-Id': {
    description: "Names the request in the service's log: the client's own if it sent one, otherwise a new one.",
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
};

const retryAfter: Headers = {
  'Retry-After': { description: 'Seconds to wait.', required: true, schema: { type: 'integer', minimum: 1 } },
};

/** The limit's headers: on every 429, and on each counted use. */
export function rateLimitHeaders({ required }: { required: boolean }): Headers {
  const count = (description: string, minimum: number) => ({
    description,
    required,
    schema: { type: 'integer' as const, minimum },
  });
  return {
    'RateLimit-Limit': count('Accepted uses per hour.', 1),
    'RateLimit-Remaining': count('Uses left.', 0),
    'RateLimit-Reset': count('Seconds until the next slot is free.', 1),
  };
}

/** A success with the component schema of that name as its body. */
export function success(
  description: string,
  schemaName: string,
  { headers, links }: { headers?: Headers; links?: JsonSchema } = {},
): ResponseObject {
  return {
    description,
    headers: { ...requestId, ...headers },
    content: { 'application/json': { schema: refTo(schemaName) } },
    ...(links && { links }),
  };
}

/** A success with plain text as its body. */
export function textResponse(description: string): ResponseObject {
  return { description, headers: requestId, content: { 'text/plain': { schema: { type: 'string' } } } };
}

/** Default descriptions of error statuses. */
const REFUSALS = {
  400: 'The request is invalid; the message names the field.',
  401: 'The key is missing, malformed, unknown or revoked.',
  403: 'The key has the scope `read`, or a static export needs the Enterprise plan.',
  404: 'It does not exist, or it belongs to another organization.',
  409: 'The current state does not allow it; the message gives the reason.',
  410: 'It is no longer stored.',
  413: 'The body is over 1 MiB.',
  415: 'The body is not sent as JSON.',
  422: 'The Idempotency-Key was used for another request.',
  429: 'The hourly limit is reached. Retry-After says when a slot is free.',
  500: 'An unexpected error.',
  503: 'The database cannot be reached.',
} as const;

type Refusal = keyof typeof REFUSALS;

const ALWAYS = [500, 503] as const;

const OWN_HEADERS: { [Status in Refusal]?: Headers } = {
  401: {
    'WWW-Authenticate': {
      description: 'The scheme to use.',
      required: true,
      schema: { type: 'string', pattern: '^Bearer' },
    },
  },
  429: { ...retryAfter, ...rateLimitHeaders({ required: true }) },
  503: retryAfter,
};

/** Error responses by status, including 500 and 503, all with the one error body. */
export function refusals(...statuses: Exclude<Refusal, (typeof ALWAYS)[number]>[]): Operation['responses'] {
  const entries = [...statuses, ...ALWAYS].map((status) => [
    String(status),
    {
      description: REFUSALS[status],
      headers: { ...requestId, ...OWN_HEADERS[status] },
      content: { 'application/json': { schema: refTo('Error') } },
    },
  ]);
  return Object.fromEntries(entries);
}
