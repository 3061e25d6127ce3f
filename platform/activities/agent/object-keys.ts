/** What is kept of a run until it has ended, and its log, which stays. */
export function logKey(jobId: string, run: number): string {
  return `agent/${jobId}/${run}/log.txt`;
}

/** The same tree has the same key, so a repeated run writes over its own pack only. */
export function packKey(jobId: string, run: number, tree: string): string {
  return `agent/${jobId}/${run}/packs/${tree}.pack`;
}

export function packPrefix(jobId: string, run: number): string {
  return `agent/${jobId}/${run}/packs/`;
}
