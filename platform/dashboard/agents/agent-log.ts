import { joinAgentLogs } from '../../api/agent/read-agent-log.ts';
import { listAgentRunLogs } from '../../store/agent-runs.ts';
import type { DashboardContext } from '../dashboard-context.ts';

/** The page shows the log's end; the API has the whole. */
const SHOWN_BYTES = 40 * 1024;

export type LogEnd = { text: string; isCut: boolean };

/** The end of what the agent printed in all runs. */
export async function readLogEnd({ db, objects }: DashboardContext, jobId: string): Promise<LogEnd> {
  let kept = Buffer.alloc(0);
  let isCut = false;
  for await (const chunk of joinAgentLogs(objects, await listAgentRunLogs(db, jobId))) {
    kept = Buffer.concat([kept, chunk]);
    if (kept.length > 2 * SHOWN_BYTES) kept = Buffer.from(kept.subarray(kept.length - SHOWN_BYTES));
    isCut ||= kept.length > SHOWN_BYTES;
  }
  const end = isCut ? kept.subarray(Math.max(0, kept.length - SHOWN_BYTES)) : kept;
  return { text: end.toString('utf8'), isCut };
}
