import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { SIGNALS, WORKFLOW_TYPES } from '../contract/names.ts';

/**
 * Signals `configChanged` to every running site: this worker may have a new configuration, a new key or new code.
 * Best effort, and never throws: each site reads its configuration at its next publish or refresh anyway.
 */
export async function announceConfiguration(client: Client, logger: Logger): Promise<void> {
  let told = 0;
  try {
    const query = `WorkflowType = '${WORKFLOW_TYPES.exportSite}' AND ExecutionStatus = 'Running'`;
    for await (const { workflowId } of client.workflow.list({ query })) {
      try {
        await client.workflow.getHandle(workflowId).signal(SIGNALS.configChanged);
        told++;
      } catch (error) {
        // It may have ended since it was listed.
        logger.debug({ workflowId, error: messageOf(error) }, 'a site could not be told of the configuration');
      }
    }
    if (told > 0) logger.info({ sites: told }, 'running sites were told to read their configuration again');
  } catch (error) {
    logger.debug({ error: messageOf(error) }, 'running sites could not be listed');
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
