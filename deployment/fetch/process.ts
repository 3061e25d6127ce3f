/** The program of the process that fetches bundles (fetch-process.ts). */
import { surviveEndedResponses } from '../../base/survive-ended-responses.ts';
import { type Activity, fetchBundle, unpackFetched } from './fetch-bundle.ts';
import { type FetchJob, type FromFetcher, sendError, toFetcher } from './fetch-messages.ts';

/** Each message costs the process that serves a little. */
const PROGRESS_EVERY_MS = 50;

const ALIVE_EVERY_MS = 1_000;

const running = new Map<number, AbortController>();

surviveEndedResponses();
process.on('message', (message) => {
  const request = toFetcher.parse(message);
  if ('abort' in request) running.get(request.id)?.abort();
  else void answer(request.id, request.job);
});
process.on('disconnect', end);
// The deployment may have ended before this line.
if (!process.connected) end();
setInterval(() => send({ isAlive: true }), ALIVE_EVERY_MS).unref();
// Ctrl-C reaches the whole group, and the deployment ends this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);

/** `process.exit` would wait for threads that hang in a file system. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

function send(message: FromFetcher): void {
  process.send?.(message);
}

async function answer(id: number, job: FetchJob): Promise<void> {
  const aborting = new AbortController();
  running.set(id, aborting);
  const progress = createProgress(id);
  const activity: Activity = { signal: aborting.signal, onProgress: progress.report };
  try {
    const result = job.kind === 'fetch' ? await fetchBundle(job.request, activity) : undefined;
    if (job.kind === 'unpack') await unpackFetched(job.request, activity);
    progress.flush();
    send({ id, result });
  } catch (error) {
    progress.flush();
    send({ id, error: sendError(error) });
  } finally {
    running.delete(id);
  }
}

/** Sends the first progress at once, and the newest one regularly. */
function createProgress(id: number): { report: Activity['onProgress']; flush(): void } {
  let newest: { receivedBytes: number; totalBytes: number | undefined } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (newest !== undefined) send({ id, progress: newest });
    newest = undefined;
  };
  return {
    report(receivedBytes, totalBytes) {
      newest = { receivedBytes, totalBytes };
      timer ??= setTimeout(flush, PROGRESS_EVERY_MS);
    },
    flush,
  };
}
