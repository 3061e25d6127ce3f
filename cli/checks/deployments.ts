import pino from 'pino';
import { createTarget, type TargetDeps } from '../../activities/deployments/create-target.ts';
import { errorText } from '../../base/error-code.ts';
import { type DeploymentConfig, deploymentName, targetOf } from '../../contract/deployment-config.ts';
import { deploymentTaskQueue } from '../../contract/names.ts';
import type { TargetKind } from '../../contract/target-kind.ts';
import type { Settings } from '../../programs/settings/environment.ts';
import { createTemporal, type Temporal } from '../../programs/temporal/temporal.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { checkValuesFile } from './values-file.ts';

/** A repository or a bucket that takes longer than this will not do for deploys. */
const TIMEOUT_MS = 30_000;
const DEADLINE_MS = 5_000;
/** A worker polls at least each minute, so one that polled earlier than this is gone. */
const POLLED_MS = 90_000;

/** temporal.api.enums.v1.TaskQueueType. */
const ACTIVITY_TASKS = 2;

/** Where to ask for workers; undefined: no Temporal is configured or running. */
export type TemporalTarget =
  | {
      settings: Pick<Settings, 'variables' | 'encryptionKeys'>;
      embedded?: { address: string; namespace: string } | undefined;
    }
  | undefined;

type Context = { site: string; deps: TargetDeps; temporal: TemporalTarget };

/** Whether each deployment of a site could be written to. */
export async function checkDeployments(
  check: string,
  deployments: readonly DeploymentConfig[],
  context: Context,
): Promise<Finding[]> {
  return await Promise.all(deployments.map((deployment) => checkDeployment(check, deployment, context)));
}

async function checkDeployment(check: string, entry: DeploymentConfig, context: Context): Promise<Finding> {
  if (entry.host !== undefined) {
    return await checkHost(check, { host: entry.host, kind: targetOf(entry).kind }, context.temporal);
  }
  if (entry.valuesFile !== undefined) return await checkValuesFile(check, entry.valuesFile);
  const name = deploymentName(entry);
  const { site, deps } = context;
  try {
    const target = createTarget(name, targetOf(entry), deps);
    const found = await target.check?.({ site, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (found === undefined) return ok(check, `${name} is not checked`);
    const { message, fix, doubtful = false } = found;
    if (fix === null) return ok(check, message);
    return doubtful ? warn(check, message, fix) : fail(check, message, fix);
  } catch (error) {
    return fail(check, `${name}: ${errorText(error)}`, 'Correct this entry of deployments in galley.yaml.');
  }
}

/** Whether a worker of this host polls its queue. What is on its disk, only that machine knows. */
async function checkHost(
  check: string,
  { host, kind }: { host: string; kind: TargetKind },
  target: TemporalTarget,
): Promise<Finding> {
  const queue = deploymentTaskQueue(host, kind);
  if (target === undefined) {
    return warn(
      check,
      `the host ${host} is not checked: no Temporal responds`,
      'Start galley up, or set TEMPORAL_ADDRESS.',
    );
  }
  let temporal: Temporal | undefined;
  try {
    temporal = createTemporal({
      settings: target.settings,
      logger: pino({ level: 'silent' }),
      ...(target.embedded && { embedded: target.embedded }),
    });
    if (await isPolled(temporal, queue)) return ok(check, `a worker of the host ${host} polls ${queue}`);
    const fix = `Start one on that machine: galley worker --deployment-host ${host}`;
    return fail(check, `no worker of the host ${host} polls ${queue}`, fix);
  } catch (error) {
    const message = `the host ${host} is not checked: ${errorText(error)}`;
    return warn(check, message, 'Check TEMPORAL_ADDRESS, and that the server runs.');
  } finally {
    await temporal?.close();
  }
}

async function isPolled({ client, namespace }: Temporal, queue: string): Promise<boolean> {
  const request = { namespace, taskQueue: { name: queue }, taskQueueType: ACTIVITY_TASKS };
  const { pollers } = await client.withDeadline(Date.now() + DEADLINE_MS, () =>
    client.workflowService.describeTaskQueue(request),
  );
  return (pollers ?? []).some(
    ({ lastAccessTime }) => Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1000 < POLLED_MS,
  );
}
