import express from 'express';

export interface CountingAdminApi {
  url: string;
  key: string;
  /** Jobs so far, by when they were started (milliseconds since 1970). */
  startedAtMs: readonly number[];
  /** The most that ever ran at a time. */
  mostAtATime(): number;
  /** Whether a bundle was given for a job that was started after this. */
  bundledAfter(atMs: number): boolean;
  close(): Promise<void>;
}

type Job = { startedAtMs: number; endsAtMs: number; bundled: boolean };

const HOUR_MS = 3_600_000;

/** The static export endpoints of an Admin API whose jobs take `jobMs`, and which counts how many run at a time. */
export async function startCountingAdminApi({ jobMs }: { jobMs: number }): Promise<CountingAdminApi> {
  const jobs: Job[] = [];
  let most = 0;
  const app = express();

  app.post('/v1/static-export/jobs', (_request, response) => {
    const nowMs = Date.now();
    jobs.push({ startedAtMs: nowMs, endsAtMs: nowMs + jobMs, bundled: false });
    most = Math.max(most, jobs.filter(({ endsAtMs }) => endsAtMs > nowMs).length);
    response.status(202).json(jobView(jobs.length - 1));
  });
  app.get('/v1/static-export/jobs/:id', ({ params }, response) => void response.json(jobView(Number(params.id))));
  app.post('/v1/static-export/jobs/:id/bundle', ({ params }, response) => {
    const job = jobs[Number(params.id)];
    if (job) job.bundled = true;
    const expiresAt = new Date(Date.now() + HOUR_MS).toISOString();
    response.json({ jobId: params.id, bundleUrl: `http://127.0.0.1/bundle-${params.id}.tar.gz`, expiresAt });
  });

  function jobView(index: number): object {
    const running = (jobs[index]?.endsAtMs ?? 0) > Date.now();
    return { jobId: String(index), status: running ? 'running' : 'completed', progress: running ? 50 : 100 };
  }

  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    key: 'galley_bench',
    get startedAtMs() {
      return jobs.map(({ startedAtMs }) => startedAtMs);
    },
    mostAtATime: () => most,
    bundledAfter: (atMs) => jobs.some(({ startedAtMs, bundled }) => bundled && startedAtMs > atMs),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
