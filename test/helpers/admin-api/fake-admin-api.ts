import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { startHttpSite } from '../http-site.ts';

/** `content`: how many publishes the site had received when the job started. */
export type FakeJob = {
  jobId: string;
  domain: string;
  version: string;
  createdAtMs: number;
  updatedAtMs: number;
  startedAtMs: number;
  status: 'running' | 'completed' | 'failed';
  content: number;
  pageCount: number;
  idempotencyKey: string | undefined;
};

export type FakeLink = { job: FakeJob; url: string; givenAtMs: number; expiresAtMs: number };

export type Call = { method: string; path: string; body: string; atMs: number; idempotencyKey: string | undefined };

/** The result of an intercepted call: a response, or a connection that breaks before or after the call takes effect. */
export type Interception =
  | { status: number; body?: string; headers?: Record<string, string> }
  | 'drop'
  | 'drop-after'
  | undefined;

/** The ids, URLs and response formats of a service. */
export type Dialect = {
  jobId(number: number, domain: string): string;
  bundleUrl(job: FakeJob, expiresAtMs: number): string;
  started(job: FakeJob): object;
  read(job: FakeJob): object;
  bundle(link: FakeLink): object;
  /** The body of a 401, 404 or 409. */
  error(message: string): string;
  /** Responds to a call without an endpoint in this file. */
  other(call: Call): { status: number; body: string } | undefined;
  /** The status of a successful response. */
  success(usual: number): number;
  contentType: string;
};

export type FakeAdminApiOptions = Partial<Dialect> & {
  /** The source of all dates, job durations and link expiries. */
  clock?: () => number | Promise<number>;
  key?: string;
};

export type FakeAdminApi = {
  key: string;
  jobs: FakeJob[];
  calls: Call[];
  links(domain: string): readonly FakeLink[];
  /** Adds a completed export with its link. */
  addDeployed(domain: string): Promise<FakeLink>;
  /** A test may change it at any time. */
  behaviour: {
    linkLifetimeMs: number;
    jobDurationMs: number;
    /** Whether jobs complete; otherwise they fail. */
    succeed: boolean;
    canCancel: boolean;
    canList: boolean;
    /** Whether a domain can have only one running job, and an idempotency key only one job. */
    oneAtATime: boolean;
    /** The domain in a job's response. Omitted if undefined. */
    domain: string | undefined;
    /** The content of jobs that start from now on. */
    content: number;
    /** The page count of jobs that start from now on. */
    pageCount: number;
    intercept: (call: Call) => Interception;
  };
  handle(request: IncomingMessage, response: ServerResponse, body: string): Promise<void>;
};

export type RunningAdminApi = Omit<FakeAdminApi, 'handle'> & { url: string; close(): Promise<void> };

const JOBS = '/v1/static-export/jobs';

const start = z.object({ domain: z.string() });

export async function startFakeAdminApi(options: FakeAdminApiOptions = {}): Promise<RunningAdminApi> {
  const { handle, ...api } = createFakeAdminApi(options);
  const { origin, close } = await startHttpSite(async (request, response) =>
    handle(request, response, await text(request)),
  );
  return { ...api, url: origin, close };
}

/** The static export endpoints of an Admin API, without a server. */
export function createFakeAdminApi({
  clock = Date.now,
  key = 'galley_test',
  ...dialect
}: FakeAdminApiOptions): FakeAdminApi {
  const jobs: FakeJob[] = [];
  const calls: Call[] = [];
  const byId = new Map<string, FakeJob>();
  const byKey = new Map<string, FakeJob>();
  const newest = new Map<string, FakeJob>();
  const links = new Map<string, FakeLink[]>();
  const behaviour: FakeAdminApi['behaviour'] = {
    linkLifetimeMs: 24 * 3_600_000,
    jobDurationMs: 0,
    succeed: true,
    canCancel: true,
    canList: true,
    oneAtATime: true,
    domain: undefined,
    content: 0,
    pageCount: 7,
    intercept: () => undefined,
  };
  const view = (job: FakeJob): object => ({
    jobId: job.jobId,
    status: job.status,
    progress: 50,
    pageCount: job.pageCount,
    version: job.version,
    domain: behaviour.domain,
    createdAt: new Date(job.createdAtMs).toISOString(),
    updatedAt: new Date(job.updatedAtMs).toISOString(),
  });
  const { jobId, bundleUrl, started, read, bundle, error, other, success, contentType }: Dialect = {
    jobId: (number) => `se_${String(number).padStart(16, '0')}`,
    bundleUrl: ({ jobId, content }, expiresAtMs) =>
      `http://objects.test/${jobId}/bundle.tar.gz?content=${content}&expires=${expiresAtMs}`,
    started: view,
    read: view,
    bundle: ({ job: { jobId, version }, url, expiresAtMs }) => ({
      ...{ jobId, version, bundleUrl: url },
      expiresAt: new Date(expiresAtMs).toISOString(),
    }),
    error: (message) => JSON.stringify({ error: message }),
    other: () => undefined,
    success: (usual) => usual,
    contentType: 'application/json',
    ...dialect,
  };

  function settle(job: FakeJob, nowMs: number): FakeJob {
    if (job.status === 'running' && nowMs - job.startedAtMs >= behaviour.jobDurationMs) {
      job.status = behaviour.succeed ? 'completed' : 'failed';
      job.updatedAtMs = job.createdAtMs + behaviour.jobDurationMs;
    }
    return job;
  }

  function startJob({ body, atMs, idempotencyKey }: Call): [number, object | string] {
    const parsed = start.safeParse(JSON.parse(body));
    if (!parsed.success) return [400, error('domain: expected a text')];
    const { domain } = parsed.data;
    const repeated = byKey.get(idempotencyKey ?? '');
    if (repeated && behaviour.oneAtATime) return [202, started(repeated)];
    const last = newest.get(domain);
    if (behaviour.oneAtATime && last && settle(last, atMs).status === 'running') {
      return [409, error(`an export of this domain is active: ${last.jobId}`)];
    }
    return [202, started(addJob(domain, atMs, idempotencyKey))];
  }

  function addJob(domain: string, atMs: number, idempotencyKey?: string): FakeJob {
    const number = jobs.length + 1;
    const job: FakeJob = {
      ...{ jobId: jobId(number, domain), domain, version: `v${number}`, status: 'running' },
      ...{ createdAtMs: atMs, updatedAtMs: atMs, startedAtMs: atMs, content: behaviour.content, idempotencyKey },
      pageCount: behaviour.pageCount,
    };
    jobs.push(job);
    byId.set(job.jobId, job);
    newest.set(domain, job);
    if (idempotencyKey !== undefined) byKey.set(idempotencyKey, job);
    return job;
  }

  function giveLink(job: FakeJob, atMs: number): FakeLink {
    const expiresAtMs = atMs + behaviour.linkLifetimeMs;
    const link = { job, url: bundleUrl(job, expiresAtMs), givenAtMs: atMs, expiresAtMs };
    const given = links.get(job.domain) ?? [];
    given.push(link);
    links.set(job.domain, given);
    return link;
  }

  function respond(call: Call): [number, object | string] {
    const { pathname, searchParams } = new URL(call.path, 'http://admin-api.invalid');
    if (pathname === JOBS && call.method === 'POST') return startJob(call);
    if (pathname === JOBS && behaviour.canList) {
      const domain = searchParams.get('domain');
      return [200, { jobs: jobs.filter((job) => domain === null || job.domain === domain).map(view) }];
    }
    const [, id = '', action] = /^\/v1\/static-export\/jobs\/([^/]+)(?:\/(\w+))?$/.exec(pathname) ?? [];
    const job = byId.get(decodeURIComponent(id));
    if (!job) return [404, error('no such job')];
    settle(job, call.atMs);
    if (action === undefined) return [200, read(job)];
    if (action === 'bundle' && job.status !== 'completed') return [409, error('not completed')];
    if (action === 'bundle') return [200, bundle(giveLink(job, call.atMs))];
    if (action !== 'cancel' || !behaviour.canCancel) return [404, error('no such path')];
    if (job.status !== 'running') return [200, { result: 'already-finished', job: view(job) }];
    job.status = 'failed';
    return [200, { result: 'accepted', job: view(job) }];
  }

  async function handle(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const atMs = await clock();
    const idempotencyKey = [request.headers['idempotency-key']].flat()[0];
    const call = { method: request.method ?? '', path: request.url ?? '', body, atMs, idempotencyKey };
    calls.push(call);
    const send = (status: number, sent: string, headers: Record<string, string> = {}): void => {
      const date = new Date(atMs).toUTCString();
      response.writeHead(status, { date, 'content-type': contentType, ...headers }).end(sent);
    };
    const interception = behaviour.intercept(call);
    if (interception === 'drop') return void response.destroy();
    if (typeof interception === 'object')
      return send(interception.status, interception.body ?? '{"error":"intercepted"}', interception.headers);
    if (request.headers.authorization !== `Bearer ${key}`) return send(401, error('unknown key'));
    const others = other(call);
    if (others) return send(others.status, others.body);
    const [status, responded] = respond(call);
    if (interception === 'drop-after') return void response.destroy();
    if (typeof responded === 'string') send(status, responded);
    else send(success(status), JSON.stringify(responded));
  }

  async function addDeployed(domain: string): Promise<FakeLink> {
    const atMs = await clock();
    const job = addJob(domain, atMs);
    job.status = 'completed';
    return giveLink(job, atMs);
  }

  return { key, jobs, calls, addDeployed, links: (domain) => links.get(domain) ?? [], behaviour, handle };
}
