import { stripVTControlCharacters } from 'node:util';
import { ApplicationFailure } from '@temporalio/common';
import type { AdminApiClient } from '../../client/admin-api-client.ts';
import { type CallAdminApi, createAdminApiCaller } from '../admin-api/call-admin-api.ts';
import { benignWait, finalFailure } from '../admin-api/outcomes.ts';
import { QUICK_ASKS_MS } from '../admin-api/poll-job.ts';
import { plainLine } from '../mails/message/compose-mail.ts';
import type { ReadSite } from '../sites/read-site.ts';
import { createCancelAgentJob, createPollAgentJob, refOf } from './agent-job.ts';
import { type AgentPrompt, createRenderAgentPrompt } from './render-agent-prompt.ts';

/** The agent part of the Admin API as activities: one renders the prompt, the others make one HTTP call each. */
export function createAgentJobActivities(
  client: AdminApiClient,
  deps: {
    readSite: ReadSite;
    /** Pauses between the first polls of a job; tests on skipped time want none. */
    quickAsksMs?: readonly number[];
  },
) {
  const call = createAdminApiCaller(client);
  return {
    renderAgentPrompt: createRenderAgentPrompt(deps.readSite),
    createAgentJob: createCreateAgentJob(call),
    messageAgentJob: createMessageAgentJob(call),
    pollAgentJob: createPollAgentJob(call, deps.quickAsksMs ?? QUICK_ASKS_MS),
    readLastWords: createReadLastWords(call),
    cancelAgentJob: createCancelAgentJob(call),
  };
}

export type CreateAgentJobInput = AgentPrompt & {
  site: string;
  rule: string;
  /** The same for every attempt, so a lost response creates no second job. */
  idempotencyKey: string;
};

/**
 * The project is kept with the job: if the configuration names another project later, that one doesn't have this job.
 */
type CreatedAgentJob = { projectId: string; jobId: string };

/**
 * Creates an agent job. Every attempt sends the same project and text, so the service recognizes a repeated request by
 * its key even if the rule was edited in between.
 */
function createCreateAgentJob(call: CallAdminApi<AdminApiClient>) {
  return async function createAgentJob(input: CreateAgentJobInput): Promise<CreatedAgentJob> {
    const { projectId, prompt, idempotencyKey } = input;
    const outcome = await call('prompt', ({ agentJobs }, options) =>
      agentJobs.create({ projectId, prompt }, { ...options, idempotencyKey }),
    ).catch(explainReusedKey);
    if (outcome.verdict !== 'success') throw finalFailure('Rejected', outcome.error.message, outcome.error.status);
    return { projectId, jobId: outcome.result.id };
  };
}

/** 422 can also mean a reused key: a change that was reset renders its prompt again. */
function explainReusedKey(error: unknown): never {
  if (error instanceof ApplicationFailure && statusOf(error) === 422) {
    const message = `${error.message} (if this is about the Idempotency-Key: an earlier attempt sent another prompt with it, the response was lost, and that attempt's job exists)`;
    throw finalFailure('Rejected', message, 422);
  }
  throw error;
}

function statusOf({ details }: ApplicationFailure): unknown {
  const first: unknown = details?.[0];
  return typeof first === 'object' && first !== null && 'status' in first ? first.status : undefined;
}

type MessageInput = {
  projectId: string;
  jobId: string;
  prompt: string;
  /** The same for every attempt, so a lost response sends no second message. */
  idempotencyKey: string;
};

/** `unsupported`: the service has no message endpoint, or no longer the job. */
type MessageOutcome = 'accepted' | 'unsupported';

/** An active job takes no message. It ends within minutes, or a person is at it. */
const ACTIVE_DELAY_MS = 15_000;

/** Sends an ended job a follow-up message. Waits while the job is active. Throws `Rejected` if the job is archived. */
function createMessageAgentJob(call: CallAdminApi<AdminApiClient>) {
  return async function messageAgentJob(input: MessageInput): Promise<MessageOutcome> {
    const { prompt, idempotencyKey, jobId } = input;
    const outcome = await call('message', ({ agentJobs }, options) =>
      agentJobs.message({ ...refOf(input), prompt }, { ...options, idempotencyKey }),
    );
    if (outcome.verdict === 'success') return 'accepted';
    if (outcome.verdict === 'unsupported') return 'unsupported';
    const { message, status } = outcome.error;
    const job = await call('read', ({ agentJobs }, options) => agentJobs.get(refOf(input), options));
    if (job.verdict === 'success' && job.result.status !== 'archived') {
      throw benignWait('StillRunning', `${jobId} takes no message yet: ${message}`, ACTIVE_DELAY_MS);
    }
    throw finalFailure('Rejected', message, status);
  };
}

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
function createReadLastWords(call: CallAdminApi<AdminApiClient>) {
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
