import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { startHttpSite } from '../http-site.ts';

type ProjectJob = {
  jobId: string;
  projectId: string;
  startedAtMs: number;
  updatedAtMs: number;
  status: 'queued' | 'running' | 'completed' | 'failed';
  basePath: string | undefined;
  /** What the site had when the job started. */
  content: number;
};

/** What happens to a request: a response, or a connection that breaks before or after the request takes effect. */
export type Fault = { status: number; headers?: Record<string, string> } | 'drop' | 'drop-after' | undefined;

const startBody = z.strictObject({ basePath: z.enum(['', '/docs', '/documentation']).optional() });

/**
 * A real server with exactly the published fields of form `project`: one active job per project, so many starts per hour for
 * all projects (429 without Retry-After), no idempotency, no list, a fresh link on each read. A test may change `behaviour`.
 */
export async function startProjectFormApi({ key = 'galley_key', clock = Date.now } = {}) {
  const jobs: ProjectJob[] = [];
  const requests: { method: string; path: string; status: number }[] = [];
  const behaviour = {
    startsPerHour: 10,
    jobDurationMs: 0,
    linkLifetimeMs: 3_600_000,
    content: 0,
    bundleUrl: (job: ProjectJob): string => `http://objects.test/${job.jobId}/bundle.tar.gz`,
    fault: (_: { method: string; path: string }): Fault => undefined,
  };

  const settle = (job: ProjectJob): ProjectJob => {
    if (job.status === 'running' && clock() - job.startedAtMs >= behaviour.jobDurationMs) {
      Object.assign(job, { status: 'completed', updatedAtMs: clock() });
    }
    return job;
  };
  const view = (job: ProjectJob): object => ({
    jobId: job.jobId,
    status: job.status,
    createdAt: new Date(job.startedAtMs).toISOString(),
    updatedAt: new Date(job.updatedAtMs).toISOString(),
    error: null,
  });
  const withLink = (job: ProjectJob): object => {
    if (job.status !== 'completed') return view(job);
    const expiresAtMs = clock() + behaviour.linkLifetimeMs;
    const bundleUrl = `${behaviour.bundleUrl(job)}?expires=${expiresAtMs}&nonce=${randomUUID()}`;
    return { ...view(job), bundleUrl, sizeBytes: 1_000, expiresAt: new Date(expiresAtMs).toISOString() };
  };

  function start(projectId: string, body: string): [number, object] {
    const parsed = startBody.safeParse(body === '' ? {} : JSON.parse(body));
    if (!parsed.success) return [400, { error: 'invalid body' }];
    const own = jobs.filter((job) => job.projectId === projectId).map(settle);
    if (own.some(({ status }) => status === 'running')) return [409, { error: 'a job is active' }];
    const recent = jobs.filter(({ startedAtMs }) => startedAtMs > clock() - 3_600_000);
    if (recent.length >= behaviour.startsPerHour) return [429, { error: 'rate limit exceeded' }];
    const at = { startedAtMs: clock(), updatedAtMs: clock() };
    const rest = { basePath: parsed.data.basePath, content: behaviour.content };
    const job: ProjectJob = { jobId: `job-${jobs.length + 1}`, projectId, status: 'running', ...at, ...rest };
    jobs.push(job);
    return [202, view(job)];
  }

  function respond(method: string, path: string, body: string): [number, object] {
    const [, projectId, jobId] = /^\/v1\/static-export\/(prj_\w+)\/jobs(?:\/([\w-]+))?$/.exec(path) ?? [];
    if (projectId === undefined) return [404, { error: 'no such path' }];
    if (jobId === undefined) return method === 'POST' ? start(projectId, body) : [405, { error: 'POST only' }];
    const job = jobs.find((each) => each.projectId === projectId && each.jobId === jobId);
    if (job === undefined || method !== 'GET') return [404, { error: 'no such job' }];
    return [200, withLink(settle(job))];
  }

  const { origin, close } = await startHttpSite(async (request, response) => {
    const body = await text(request);
    const { method = '', url: path = '' } = request;
    const fault = behaviour.fault({ method, path });
    if (fault === 'drop') return void response.destroy();
    const isKnown = request.headers.authorization === `Bearer ${key}`;
    const [status, sent]: [number, object] =
      typeof fault === 'object'
        ? [fault.status, { error: 'fault' }]
        : isKnown
          ? respond(method, path, body)
          : [401, { error: 'unknown key' }];
    requests.push({ method, path, status });
    if (fault === 'drop-after') return void response.destroy();
    const headers = typeof fault === 'object' ? fault.headers : {};
    const date = new Date(clock()).toUTCString();
    response.writeHead(status, { date, 'content-type': 'application/json', ...headers }).end(JSON.stringify(sent));
  });
  return { url: origin, key, jobs, requests, behaviour, close };
}

export type ProjectFormApi = Awaited<ReturnType<typeof startProjectFormApi>>;
