import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { BASELINE, TASK_QUEUES, WORKFLOW_TYPES } from '../../contract/names.ts';
import { isAway } from './search-attributes.ts';
import type { Temporal } from './temporal.ts';

const { exportSite, agentRule, agentChange, staticExportJob, agentJob } = WORKFLOW_TYPES;

/**
 * A run's first workflow task sets both attributes at once: Temporal sets BuildIds, and the workflow's mark sets
 * TemporalChangeVersion. So a run that no worker has begun yet counts for no build. Every cluster has both attributes.
 */
const OTHER_BASELINE = [
  "ExecutionStatus = 'Running'",
  `TaskQueue IN (${quoted(Object.values(TASK_QUEUES))})`,
  `WorkflowType IN (${quoted([exportSite, agentRule, agentChange, staticExportJob, agentJob])})`,
  'BuildIds IS NOT NULL',
  `(TemporalChangeVersion IS NULL OR TemporalChangeVersion != '${BASELINE}')`,
].join(' AND ');

const RETRY_MS = 2_000;
const CALL_DEADLINE_MS = 5_000;

/**
 * Resolves when Temporal runs no workflow of another baseline, or can't say so; waits while it is away.
 * @throws ConfigurationError with what to do if it runs some.
 */
export async function refuseOtherBaseline(
  { client, namespace, address }: Pick<Temporal, 'client' | 'namespace' | 'address'>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      const { count } = await client.withDeadline(Date.now() + CALL_DEADLINE_MS, () =>
        client.workflow.count(OTHER_BASELINE),
      );
      if (count === 0) return;
      throw new ConfigurationError([
        `TEMPORAL_NAMESPACE: expected no running workflows of another build of Galley, but ${namespace} at ${address} ` +
          `has ${count}: terminate them (docs/operate/backup-and-upgrades.md) or name another namespace; nothing was changed`,
      ]);
    } catch (error) {
      if (error instanceof ConfigurationError) throw error;
      if (!isAway(error)) return;
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}

function quoted(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(', ');
}
