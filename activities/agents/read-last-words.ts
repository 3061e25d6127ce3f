import { stripVTControlCharacters } from 'node:util';
import type { AdminApiClient } from '../../client/admin-api-client.ts';
import type { CallAdminApi } from '../admin-api/call-admin-api.ts';
import { plainLine } from '../mails/message/plain-line.ts';
import { refOf } from './agent-job.ts';

/** How much of the log's end is read: the agent's last sentences. */
const END_BYTES = 16_384;

const MAX_LINES = 5;
const MAX_LINE_CHARACTERS = 200;

/** The header that the platform writes before each run's output. */
const RUN_LINE = /^=== run \d+.* ===$/;

/**
 * Reads the last lines that a job's agent printed, without control characters. Null if it printed nothing or the
 * service has no log of agent jobs, which is optional.
 */
export function createReadLastWords(call: CallAdminApi<AdminApiClient>) {
  return async function readLastWords(job: { projectId: string; jobId: string }): Promise<string | null> {
    const outcome = await call('log', ({ agentJobs }, options) =>
      agentJobs.log(refOf(job), { ...options, endBytes: END_BYTES }),
    );
    return outcome.verdict === 'success' ? lastWords(outcome.result) : null;
  };
}

function lastWords(log: string): string | null {
  const lines = stripVTControlCharacters(log)
    .split(/\r\n|[\r\n]/)
    .map((line) => plainLine(line, MAX_LINE_CHARACTERS))
    .filter((line) => line !== '' && !RUN_LINE.test(line));
  return lines.slice(-MAX_LINES).join('\n') || null;
}
