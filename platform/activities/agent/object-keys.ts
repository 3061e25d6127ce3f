/** The prefix of everything that agent jobs store. */
export const AGENT_FOLDER = 'agent/';

/** Objects of a run that are deleted when it has ended, and its log, which stays. */
export function logKey(jobId: string, run: number): string {
  return `${AGENT_FOLDER}${jobId}/${run}/log.txt`;
}

/** The key depends on the tree, so a repeated run overwrites only its own pack. */
export function packKey(jobId: string, run: number, tree: string): string {
  return `${AGENT_FOLDER}${jobId}/${run}/packs/${tree}.pack`;
}

export function packPrefix(jobId: string, run: number): string {
  return `${AGENT_FOLDER}${jobId}/${run}/packs/`;
}
