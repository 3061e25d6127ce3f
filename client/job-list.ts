import { z } from 'zod';
import { AdminApiError } from './admin-api-error.ts';
import { sendAndRead } from './read-response.ts';
import type { RequestOptions, SendRequest } from './send-request.ts';

export type JobPage<Job> = {
  jobs: Job[];
  /** Null for the last page. */
  nextCursor: string | null;
};

/** A list of jobs, newest first: iterate over all of them, or request one page. */
export type JobList<Job> = AsyncIterable<Job> & {
  /** The page at the filter's `cursor`, by default the first. */
  page(): Promise<JobPage<Job>>;
};

export type ListFilter<Status> = {
  status?: Status | undefined;
  /** Jobs per page; the service's own number by default. */
  limit?: number | undefined;
  cursor?: string | undefined;
};

/** A list endpoint. Requests nothing before it is used. */
export function createJobList<Job>(
  send: SendRequest,
  {
    path,
    filter,
    job,
  }: { path: string; filter: ListFilter<string> & { domain?: string | undefined }; job: z.ZodType<Job> },
  options: RequestOptions,
): JobList<Job> {
  const schema = pageOf(job);
  const pathAt = (cursor: string | undefined): string => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...filter, cursor })) {
      if (value !== undefined) query.set(name, String(value));
    }
    return query.size === 0 ? path : `${path}?${query}`;
  };
  const pageAt = async (cursor: string | undefined): Promise<JobPage<Job>> =>
    await sendAndRead(send, { method: 'GET', path: pathAt(cursor), schema }, options);

  return {
    page: () => pageAt(filter.cursor),
    async *[Symbol.asyncIterator]() {
      const cursors = new Set<string>();
      for (let cursor = filter.cursor; ; ) {
        const { jobs, nextCursor } = await pageAt(cursor);
        yield* jobs;
        if (nextCursor === null) return;
        // Otherwise a service that ignores the cursor would make the list endless.
        if (cursors.has(nextCursor)) {
          const reason = 'the service repeats a cursor, so the list has no end';
          throw new AdminApiError(`GET ${pathAt(cursor)}`, { status: 200, reason });
        }
        cursors.add(nextCursor);
        cursor = nextCursor;
      }
    },
  };
}

function pageOf<Job>(job: z.ZodType<Job>) {
  return z.object({
    /** Leaves out what isn't a job. */
    jobs: z.array(z.unknown()).transform((items) => items.flatMap((item) => job.safeParse(item).data ?? [])),
    nextCursor: z.string().min(1).nullable().catch(null),
  });
}
