import { ApplicationFailure } from '@temporalio/common';
import type { SiteConfig } from '../../contract/galley-config.ts';
import { checkPromptTemplate } from '../../contract/prompt-template.ts';
import type { PublishEvent } from '../../contract/publish-event.ts';
import { textField } from '../admin-api/answer-fields.ts';
import { describeAnswer, finalFailure } from '../admin-api/outcomes.ts';
import { type PatientCall, troubleFailure } from '../admin-api/patient-call.ts';
import { unreadable } from '../admin-api/start-export.ts';
import { agentJobPath } from './agent-job.ts';
import { renderPrompt } from './render-prompt.ts';

export type CreateAgentJobInput = {
  site: string;
  rule: string;
  /** Oldest first. */
  events: PublishEvent[];
  /** How many events there were, those included that are not in `events`. */
  eventCount: number;
  /** The same for every attempt, so a lost answer makes no second job. */
  idempotencyKey: string;
};

/** The project goes with the job: a configuration that names another one later doesn't have this job. */
export type CreatedAgentJob = { projectId: string; jobId: string };

export type CreateAgentJobDeps = {
  readSite: (site: string) => SiteConfig | undefined | Promise<SiteConfig | undefined>;
};

/**
 * Makes an agent job of a rule's prompt. The template is read and filled in here, so that no prompt is kept in a
 * workflow's history. Throws `Rejected` where the rule is gone or its prompt can't be made.
 */
export function createCreateAgentJob(call: PatientCall, { readSite }: CreateAgentJobDeps) {
  return async function createAgentJob(input: CreateAgentJobInput): Promise<CreatedAgentJob> {
    const site = await readSite(input.site);
    const rule = site?.agent.find(({ name }) => name === input.rule);
    const where = `the rule ${input.rule} of the site ${input.site}`;
    if (rule === undefined) throw finalFailure('Rejected', `${where} is no longer configured`, null);
    const { projectId } = site ?? {};
    if (projectId === undefined) throw finalFailure('Rejected', `${where} needs the site's projectId`, null);
    const problem = checkPromptTemplate(rule.prompt);
    if (problem !== null) throw finalFailure('Rejected', `the prompt of ${where}: ${problem}`, null);
    const prompt = renderPrompt(rule.prompt, input.events, input.eventCount);
    if (prompt.trim() === '') throw finalFailure('Rejected', `the prompt of ${where} is empty for this event`, null);

    const request = {
      method: 'POST',
      path: agentJobPath({ projectId }),
      body: { prompt },
      headers: { 'idempotency-key': input.idempotencyKey },
    } as const;
    const { verdict, answer } = await call('prompt', request).catch(tellOfKey);
    if (verdict !== 'success') throw finalFailure('Rejected', describeAnswer(request, answer), answer.status);
    const jobId = textField(answer, 'id');
    // The answer may have been cut on its way: the same key asks for the same job again.
    if (jobId === undefined) throw troubleFailure(unreadable(answer.status, 'id', answer.text), answer.status);
    return { projectId, jobId };
  };
}

/** The prompt is made anew for each attempt, from the rule as it is by then, and 422 also stands for a key used before. */
function tellOfKey(error: unknown): never {
  if (error instanceof ApplicationFailure && statusOf(error) === 422) {
    const message = `${error.message} (if this is about the Idempotency-Key: the rule's prompt was changed after the answer to an earlier attempt was lost, and that attempt's job exists)`;
    throw finalFailure('Rejected', message, 422);
  }
  throw error;
}

function statusOf({ details }: ApplicationFailure): unknown {
  const first: unknown = details?.[0];
  return typeof first === 'object' && first !== null && 'status' in first ? first.status : undefined;
}
