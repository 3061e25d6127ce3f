/** What all exports keep while they run. */
export const WORK_FOLDER = 'exports/';

/** Everything an export keeps while it runs lies below this prefix, and is deleted with it. */
export function workPrefix(jobId: string): string {
  return `${WORK_FOLDER}${jobId}/`;
}

/** Bodies and extractions of many addresses behind each other. */
export function segmentKey(jobId: string, id: string): string {
  return `${workPrefix(jobId)}segments/${id}`;
}

/** One body that is too large to hold in memory. */
export function largeObjectKey(jobId: string, id: string): string {
  return `${workPrefix(jobId)}large/${id}`;
}

/** One piece of the archive; `id` differs between attempts, so a late writer never replaces what a row names. */
export function memberKey(jobId: string, batch: number, id: string): string {
  return `${workPrefix(jobId)}members/${batch}-${id}`;
}

/** The report stays as long as the job does. */
export function reportKey(jobId: string): string {
  return `reports/${jobId}.json`;
}

/** What all bundles lie below. */
export const BUNDLES_FOLDER = 'bundles/';

/** The key of a packed bundle: its hash is in every link's path, so a reader that has these bytes can tell. */
export function bundleKey(sha256: string): string {
  return `${BUNDLES_FOLDER}${sha256}/bundle.tar.gz`;
}
