import { type JsonSchema, refTo } from './json-schemas.ts';

type HeaderSchema = { type: 'string'; pattern: string } | { type: 'integer'; minimum: number };
type Headers = Record<string, { description: string; required: boolean; schema: HeaderSchema }>;

type ResponseObject = { description: string; headers: Headers; content: JsonSchema; links?: JsonSchema };

/** One method of one path, as OpenAPI has it. */
export type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: JsonSchema[];
  requestBody?: { required: true; content: JsonSchema };
  responses: Record<string, ResponseObject>;
};

const requestId: Headers = {
  'X-Request-Id': {
    description: "Names the request in the service's log: the client's own where it sent one, else a new one.",
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
};

const retryAfter: Headers = {
  'Retry-After': { description: 'Seconds to wait.', required: true, schema: { type: 'integer', minimum: 1 } },
};

/** The limit's state: always with a refusal, and with each use that was counted. */
export function rateLimitHeaders({ required }: { required: boolean }): Headers {
  const count = (description: string, minimum: number) => ({
    description,
    required,
    schema: { type: 'integer' as const, minimum },
  });
  return {
    'RateLimit-Limit': count('Accepted uses per hour.', 1),
    'RateLimit-Remaining': count('Uses left.', 0),
    'RateLimit-Reset': count('Seconds until the next slot frees.', 1),
  };
}

/** A success with a body of the component schema of that name. */
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
export function plainText(description: string): ResponseObject {
  return { description, headers: requestId, content: { 'text/plain': { schema: { type: 'string' } } } };
}

/** What each refusal means where an operation has nothing of its own to say. */
const REFUSALS = {
  400: 'The request is invalid; the message names the field.',
  401: 'The key is missing, malformed, unknown or revoked.',
  403: "The organization's plan is not Enterprise.",
  404: "There is no such thing, or it is another organization's.",
  409: 'The state of things does not allow it; the message says which.',
  413: 'The body is over 1 MiB.',
  415: 'The body is not sent as JSON.',
  422: 'The Idempotency-Key was used for another request.',
  429: 'The hourly limit is reached. Retry-After is the moment a slot frees.',
  500: 'An unexpected fault.',
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

/** Refusals by their status, 500 and 503 included, each with the one error body. */
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
