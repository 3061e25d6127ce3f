/** The program of the process that fetches bundles (fetch-process.ts). */
import { serveJobs } from '../../base/job-program.ts';
import { surviveEndedResponses } from '../../base/survive-ended-responses.ts';
import { type Activity, fetchBundle, unpackFetched } from './fetch-bundle.ts';
import { type FetchJob, type FetchWork, sendError } from './fetch-messages.ts';

/** Each message costs the process that serves a little. */
const PROGRESS_EVERY_MS = 50;

const ALIVE_EVERY_MS = 1_000;

surviveEndedResponses();
const notifyParent = serveJobs<FetchWork>(async (job, { signal, notify }) => {
  const progress = createProgress(notify);
  try {
    return { fetched: await work(job, { signal, onProgress: progress.report }) };
  } catch (error) {
    return { error: sendError(error) };
  } finally {
    progress.flush();
  }
});
setInterval(() => notifyParent({ isAlive: true }), ALIVE_EVERY_MS).unref();

async function work(job: FetchJob, activity: Activity) {
  if (job.kind === 'fetch') return await fetchBundle(job.request, activity);
  await unpackFetched(job.request, activity);
  return undefined;
}

/** Sends the first progress at once, and the newest one regularly. */
function createProgress(notify: (notice: FetchWork['notice']) => void): {
  report: Activity['onProgress'];
  flush(): void;
} {
  let newest: { receivedBytes: number; totalBytes: number | undefined } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (newest !== undefined) notify(newest);
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
