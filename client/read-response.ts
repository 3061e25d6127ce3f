import { z } from 'zod';
import { opaqueId } from '../contract/admin-api.ts';
import { AdminApiError } from './admin-api-error.ts';
import { unreadableReason } from './error-reason.ts';
import type { AdminApiRequest, AdminApiResponse, RequestOptions, SendRequest } from './send-request.ts';

/**
 * Sends a request and reads its JSON.
 * @param known fields that the response needn't have, because the request has them
 * @throws AdminApiError if a required field is missing
 */
export async function sendAndRead<Schema extends z.ZodType>(
  send: SendRequest,
  { schema, known = {}, ...request }: AdminApiRequest & { schema: Schema; known?: object },
  options: RequestOptions,
): Promise<z.infer<Schema>> {
  const response = await send(request, options);
  const parsed = schema.safeParse({ ...record(response.body), ...known });
  if (parsed.success) return parsed.data;
  throw unreadable(request, response, parsed.error.issues[0]?.path.join('.') ?? '');
}

/** A 2xx without what the API promises. */
export function unreadable(
  { method, path }: AdminApiRequest,
  response: AdminApiResponse,
  missing: string,
): AdminApiError {
  return new AdminApiError(`${method} ${path}`, { ...response, reason: unreadableReason(missing, response) });
}

/** An id as a segment of a path. @throws TypeError for one that can't be, such as "..". */
export function segment(name: string, id: string): string {
  if (!opaqueId.safeParse(id).success) throw new TypeError(`${name}: expected an id, got ${JSON.stringify(id)}`);
  return encodeURIComponent(id);
}

const finished = z.object({ result: z.literal('already-finished') });

export type Cancellation<Job> = {
  /** `accepted` unless the service says otherwise. */
  result: 'accepted' | 'already-finished';
  /** Null if the service doesn't return it. */
  job: Job | null;
};

/** Any 2xx means that the service accepted the request, unless the body says that the job had ended. */
export function readCancellation<Job>({ body }: AdminApiResponse, job: z.ZodType<Job>): Cancellation<Job> {
  const result = finished.safeParse(body).success ? 'already-finished' : 'accepted';
  return { result, job: job.safeParse(record(body).job).data ?? null };
}

/** The fields of a JSON object; none of anything else. */
function record(body: unknown): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).safeParse(body).data ?? {};
}
