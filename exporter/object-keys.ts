/** The prefix of everything that exports store while they run. */
export const WORK_FOLDER = 'exports/';

/** Everything that an export stores while it runs has this prefix, and is deleted with it. */
export function workPrefix(jobId: string): string {
  return `${WORK_FOLDER}${jobId}/`;
}

/** A segment: bodies and extractions of many URLs in one object. */
export function segmentKey(jobId: string, id: string): string {
  return `${workPrefix(jobId)}segments/${id}`;
}

/** One body that is too large to hold in memory. */
export function largeObjectKey(jobId: string, id: string): string {
  return `${workPrefix(jobId)}large/${id}`;
}

/**
 * One batch of the archive; `id` differs between attempts, so a late writer never replaces an object that a row names.
 */
export function batchKey(jobId: string, batch: number, id: string): string {
  return `${workPrefix(jobId)}members/${batch}-${id}`;
}

/** The prefix of all reports. */
export const REPORTS_FOLDER = 'reports/';

/** The report is kept as long as the bundle. */
export function reportKey(jobId: string): string {
  return `${REPORTS_FOLDER}${jobId}.json`;
}

/** What is beside the report of a job that has a proof. It is kept as long as the report. */
export function proofFolder(jobId: string): string {
  return `${REPORTS_FOLDER}${jobId}/`;
}

/** The proof of a bundle, as `StoredProof`. */
export function proofKey(jobId: string): string {
  return `${proofFolder(jobId)}proof.json`;
}

/** The prefix of all bundles. */
export const BUNDLES_FOLDER = 'bundles/';

/**
 * The key of a packed bundle. It contains the hash, so the path of every link does too, and a reader can compare it.
 */
export function bundleKey(sha256: string): string {
  return `${BUNDLES_FOLDER}${sha256}/bundle.tar.gz`;
}
