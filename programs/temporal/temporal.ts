import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection, type NativeConnectionOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { RECEIVER_CONNECTION } from '../../api/temporal-connection.ts';
import { plainReason } from '../../base/plain-reason.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { BASELINE, TASK_QUEUES, WORKFLOW_TYPES } from '../../contract/names.ts';
import type { Lifetime } from '../process/lifetime.ts';
import type { Settings } from '../settings/environment.ts';
import { tracing } from '../tracing/tracing.ts';
import { createPayloadEncryption } from './payload-encryption.ts';
import { isAway } from './search-attributes.ts';

export interface Temporal {
  namespace: string;
  /** host:port, for messages. */
  address: string;
  /** Connects at its first call, so Temporal may be unavailable when it is created. */
  client: Client;
  dataConverter: DataConverter;
  /** Whether the namespace responds now; false after a second. */
  ready(): Promise<boolean>;
  /**
   * Connects a worker: waits for Temporal without limit. Rejects if `signal` is aborted or another build's workflows
   * run.
   */
  connectWorker(signal: AbortSignal): Promise<NativeConnection>;
  close(): Promise<void>;
}

interface TemporalOptions {
  settings: Pick<Settings, 'variables' | 'encryptionKeys'>;
  logger: Logger;
  /** The embedded server's address if `up` started one; it overrides all variables. */
  embedded?: { address: string; namespace: string };
}

/** The default of Temporal's own clients. */
const DEFAULTS = { address: '127.0.0.1:7233', namespace: 'default' } as const;

const READY_DEADLINE_MS = 1_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 5_000;

/** How often a long wait is logged. */
const REMINDER_MS = 60_000;

/** Connections by Temporal's standard client variables and configuration file (@temporalio/envconfig). */
export function createTemporal({ settings, logger, embedded }: TemporalOptions): Temporal {
  const { connectionOptions, namespace } = connectConfig(settings, embedded);
  const { address = DEFAULTS.address, apiKey, metadata, tls } = connectionOptions;
  const connection = Connection.lazy({
    ...RECEIVER_CONNECTION,
    address,
    ...(tls === undefined ? {} : { tls }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(metadata === undefined ? {} : { metadata }),
  });
  const dataConverter = dataConverterOf(settings.encryptionKeys);
  return {
    namespace,
    address,
    dataConverter,
    client: new Client({
      connection,
      namespace,
      dataConverter,
      interceptors: { workflow: [tracing()?.client ?? {}] },
    }),
    ready: async () =>
      await connection
        .withDeadline(Date.now() + READY_DEADLINE_MS, () => connection.workflowService.describeNamespace({ namespace }))
        .then(
          () => true,
          () => false,
        ),
    connectWorker: (signal) => waitForTemporal({ options: { ...connectionOptions, address }, logger, signal }),
    close: () => connection.close(),
  };
}

/**
 * `createTemporal`, closed at the end of the lifetime. While Temporal is away, it resolves after a second and the check
 * for another build's workflows continues: workers wait for it, and a refusal ends the program.
 * @throws ConfigurationError if Temporal runs workflows of another build
 */
export async function openTemporal(options: TemporalOptions, lifetime: Lifetime): Promise<Temporal> {
  const temporal = createTemporal(options);
  lifetime.onStop('Temporal client', temporal.close);
  const checked = refuseOtherBaseline(temporal, lifetime.signal);
  checked.catch(lifetime.fail);
  await Promise.race([checked, sleep(READY_DEADLINE_MS, undefined, { ref: false })]);
  const connectWorker = async (signal: AbortSignal): Promise<NativeConnection> => {
    // It logs that it waits, and a worker polls only once the check is done.
    const connection = await temporal.connectWorker(signal);
    await checked.catch((error: unknown) => connection.close().then(() => Promise.reject(error)));
    return connection;
  };
  return { ...temporal, connectWorker };
}

/** Failures contain messages: with a key they are encrypted as payloads too. */
function dataConverterOf([key, ...older]: readonly Buffer[]): DataConverter {
  if (key === undefined) return {};
  const failureConverterPath = fileURLToPath(new URL('./encrypted-failures.cjs', import.meta.url));
  return { payloadCodecs: [createPayloadEncryption(key, ...older)], failureConverterPath };
}

interface ConnectConfig {
  connectionOptions: NativeConnectionOptions;
  namespace: string;
}

function connectConfig(
  { variables }: TemporalOptions['settings'],
  embedded: TemporalOptions['embedded'],
): ConnectConfig {
  if (embedded) return { connectionOptions: { address: embedded.address }, namespace: embedded.namespace };
  const set = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: Object.fromEntries(set) });
  return { connectionOptions, namespace: namespace ?? DEFAULTS.namespace };
}

interface Wait {
  options: NativeConnectionOptions & { address: string };
  logger: Logger;
  signal: AbortSignal;
}

async function waitForTemporal({ options, logger, signal }: Wait): Promise<NativeConnection> {
  let delayMs = FIRST_RETRY_MS;
  let remindAt = 0;
  for (;;) {
    signal.throwIfAborted();
    try {
      return await NativeConnection.connect(options);
    } catch (error) {
      if (Date.now() >= remindAt) {
        logger.warn({ address: options.address, reason: plainReason(error) }, 'Waiting for Temporal');
        remindAt = Date.now() + REMINDER_MS;
      }
    }
    await sleep(delayMs, undefined, { signal });
    delayMs = Math.min(delayMs * 2, LONGEST_RETRY_MS);
  }
}

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
