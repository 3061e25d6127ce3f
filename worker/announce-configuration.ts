import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { SIGNALS, WORKFLOW_TYPES } from '../contract/names.ts';

/** Whoever reads the configuration: sites, agent rules, and the changes that wait for a key or for a review. */
const TYPES = [WORKFLOW_TYPES.exportSite, WORKFLOW_TYPES.agentRule, WORKFLOW_TYPES.agentChange];

/**
 * Signals `configChanged` to every running workflow: this worker may have a new configuration, a new key or new code.
 * Best effort, and never throws: each reads its configuration before it does anything with it anyway.
 */
export async function announceConfiguration(client: Client, logger: Logger): Promise<void> {
  let told = 0;
  try {
    const types = TYPES.map((type) => `'${type}'`).join(', ');
    const query = `WorkflowType IN (${types}) AND ExecutionStatus = 'Running'`;
    for await (const { workflowId } of client.workflow.list({ query })) {
      try {
        await client.workflow.getHandle(workflowId).signal(SIGNALS.configChanged);
        told++;
      } catch (error) {
        // It may have ended since it was listed.
        logger.debug({ workflowId, error: messageOf(error) }, 'a workflow could not be told of the configuration');
      }
    }
    if (told > 0) logger.info({ workflows: told }, 'running workflows were told to read their configuration again');
  } catch (error) {
    logger.debug({ error: messageOf(error) }, 'running workflows could not be listed');
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
