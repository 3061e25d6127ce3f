import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';

/** A job as the small Admin API keeps it; `content` is how many publishes the site had seen when it started. */
export type SmallJob = {
  jobId: string;
  version: string;
  createdAtMs: number;
  updatedAtMs: number;
  startedAtMs: number;
  status: 'running' | 'completed' | 'failed';
  content: number;
  idempotencyKey: string | undefined;
};

export type SmallCall = { method: string; path: string; atMs: number; idempotencyKey: string | undefined };

/** What an intercepted call gets instead: an answer, or a connection that breaks before or after the call has worked. */
export type Interception =
  | { status: number; body?: string; headers?: Record<string, string> }
  | 'drop'
  | 'drop-after'
  | undefined;

export type SmallAdminApi = {
  url: string;
  key: string;
  jobs: SmallJob[];
  calls: SmallCall[];
  /** How the service behaves; a test may change it at any time. */
  behaviour: {
    linkLifetimeMs: number;
    jobDurationMs: number;
    /** Whether jobs end well. */
    succeed: boolean;
    canCancel: boolean;
    /** What jobs say they exported; undefined leaves it out, as the seed does. */
    domain: string | undefined;
    /** What jobs started from now on contain. */
    content: number;
    intercept: (call: SmallCall) => Interception;
  };
  close(): Promise<void>;
};

/** An Admin API without its server. */
export type SmallAdminApiParts = Pick<SmallAdminApi, 'key' | 'jobs' | 'calls' | 'behaviour'> & {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
};

/**
 * An Admin API with the static export endpoints over real HTTP, living on the given clock: its `Date` headers, job
 * durations and links' ends are all of that time.
 */
export async function startSmallAdminApi(clock: () => number | Promise<number>): Promise<SmallAdminApi> {
  const { handle, ...parts } = createSmallAdminApi(clock);
  return { ...parts, ...(await listen((request, response) => void handle(request, response))) };
}

/** `number` sets its jobs' ids apart from those of others. */
export function createSmallAdminApi(clock: () => number | Promise<number>, number = 0): SmallAdminApiParts {
  const jobs: SmallJob[] = [];
  const calls: SmallCall[] = [];
  const behaviour: SmallAdminApi['behaviour'] = {
    linkLifetimeMs: 24 * 3_600_000,
    jobDurationMs: 0,
    succeed: true,
    canCancel: true,
    domain: undefined,
    content: 0,
    intercept: () => undefined,
  };
  const key = 'galley_test';

  function settle(job: SmallJob, nowMs: number): SmallJob {
    if (job.status === 'running' && nowMs - job.startedAtMs >= behaviour.jobDurationMs) {
      job.status = behaviour.succeed ? 'completed' : 'failed';
      job.updatedAtMs = job.createdAtMs + behaviour.jobDurationMs;
    }
    return job;
  }

  function start(call: SmallCall): [number, unknown] {
    const repeated = jobs.find((job) => job.idempotencyKey && job.idempotencyKey === call.idempotencyKey);
    if (repeated) return [202, view(repeated)];
    const active = jobs.find((job) => settle(job, call.atMs).status === 'running');
    if (active) return [409, { error: `an export of this domain is active: ${active.jobId}` }];
    const job: SmallJob = {
      jobId: `se_${[number, jobs.length + 1].map((part) => String(part).padStart(8, '0')).join('')}`,
      version: `v${jobs.length + 1}`,
      createdAtMs: call.atMs,
      updatedAtMs: call.atMs,
      startedAtMs: call.atMs,
      status: 'running',
      content: behaviour.content,
      idempotencyKey: call.idempotencyKey,
    };
    jobs.push(job);
    return [202, view(job)];
  }

  function view(job: SmallJob): unknown {
    return {
      jobId: job.jobId,
      status: job.status,
      progress: 50,
      pageCount: 7,
      version: job.version,
      domain: behaviour.domain,
      createdAt: new Date(job.createdAtMs).toISOString(),
      updatedAt: new Date(job.updatedAtMs).toISOString(),
    };
  }

  function answer(call: SmallCall): [number, unknown] {
    const [path = ''] = call.path.split('?');
    if (path === '/v1/static-export/jobs')
      return call.method === 'POST' ? start(call) : [200, { jobs: jobs.map(view) }];
    const [, id, action] = /^\/v1\/static-export\/jobs\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    const job = jobs.find((candidate) => candidate.jobId === id);
    if (!job) return [404, { error: 'no such job' }];
    settle(job, call.atMs);
    if (action === undefined) return [200, view(job)];
    if (action === 'bundle') {
      if (job.status !== 'completed') return [409, { error: 'not completed' }];
      const expiresAtMs = call.atMs + behaviour.linkLifetimeMs;
      const bundleUrl = `http://objects.test/${job.jobId}/bundle.tar.gz?content=${job.content}&expires=${expiresAtMs}`;
      return [
        200,
        { jobId: job.jobId, bundleUrl, expiresAt: new Date(expiresAtMs).toISOString(), version: job.version },
      ];
    }
    if (action !== 'cancel' || !behaviour.canCancel) return [404, { error: 'no such path' }];
    if (job.status !== 'running') return [200, { result: 'already-finished', job: view(job) }];
    job.status = 'failed';
    return [200, { result: 'accepted', job: view(job) }];
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const atMs = await clock();
    const idempotencyKey = [request.headers['idempotency-key']].flat()[0];
    const call = { method: request.method ?? '', path: request.url ?? '', atMs, idempotencyKey };
    calls.push(call);
    request.resume();
    const send = (status: number, body: string, headers: Record<string, string> = {}): void => {
      const date = new Date(atMs).toUTCString();
      response.writeHead(status, { date, 'content-type': 'application/json', ...headers }).end(body);
    };
    const instead = behaviour.intercept(call);
    if (instead === 'drop') return void response.destroy();
    if (typeof instead === 'object')
      return send(instead.status, instead.body ?? '{"error":"intercepted"}', instead.headers);
    if (request.headers.authorization !== `Bearer ${key}`) return send(401, '{"error":"unknown key"}');
    const [status, body] = answer(call);
    if (instead === 'drop-after') return void response.destroy();
    send(status, JSON.stringify(body));
  }

  return { key, jobs, calls, behaviour, handle };
}

/** A server for it on a port of its own. */
export async function listen(handle: RequestListener): Promise<Pick<SmallAdminApi, 'url' | 'close'>> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
