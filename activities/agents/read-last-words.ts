import { stripVTControlCharacters } from 'node:util';
import type { PatientCall } from '../admin-api/patient-call.ts';
import { plainLine } from '../reviewers/plain-line.ts';
import { agentJobPath } from './agent-job.ts';

/** The end of a log that is read; an agent's last sentences stand there. */
const END_BYTES = 16_384;

const MAX_LINES = 5;
const MAX_LINE_CHARACTERS = 200;

/** The platform's line before each run's output. */
const RUN_LINE = /^=== run \d+.* ===$/;

/**
 * Reads what the agent of a job printed last: a few lines, without control characters. Null if it printed nothing, or the
 * service has no log of agent jobs: a hosted one needn't.
 */
export function createReadLastWords(call: PatientCall) {
  return async function readLastWords(job: { projectId: string; jobId: string }): Promise<string | null> {
    const path = `${agentJobPath(job)}/log`;
    const { verdict, answer } = await call('log', { method: 'GET', path, endBytes: END_BYTES });
    if (verdict !== 'success' || !/^text\/plain\b/i.test(answer.contentType)) return null;
    return lastWords(answer.text);
  };
}

function lastWords(log: string): string | null {
  const lines = stripVTControlCharacters(log)
    .split(/\r\n|[\r\n]/)
    .map((line) => plainLine(line, MAX_LINE_CHARACTERS))
    .filter((line) => line !== '' && !RUN_LINE.test(line));
  return lines.slice(-MAX_LINES).join('\n') || null;
}
