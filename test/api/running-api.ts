import {
  Client,
  Connection,
  type ListOptions,
  type WorkflowClientInterceptor,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { pino } from 'pino';
import { type ApiDeps, createApi } from '../../api/app.ts';
import { RECEIVER_CONNECTION } from '../../api/temporal-connection.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import { SIGNALS, WORKFLOW_IDS, WORKFLOW_TYPES } from '../../contract/names.ts';
import { type PublishedSignal, publishedSignal } from '../../contract/publish-event.ts';
import { galleyConfig } from '../../programs/config/galley-yaml.ts';
import { type HttpTimeouts, serve } from '../../programs/process/serve.ts';
import { routesIn } from '../platform/dashboard/routes-of.ts';

export const OPERATOR_TOKEN = 'operator-token';

/** Long enough that a busy machine doesn't turn a 202 into a 503, or leave out a part of a state or page. */
const DEADLINE_MS = 60_000;

export type RunningApi = {
  url: string;
  /** `METHOD /path` of each of its routes. */
  routes: string[];
  /** Every log line, as JSON. */
  log: string[];
  stop: () => Promise<void>;
};

type SentSignal = { workflowId: string; type: string; taskQueue: string; name: string; payload: unknown };

export type RecordingApi = RunningApi & {
  /** Every sent signal. */
  sent: SentSignal[];
  /** Workflows whose signals arrive, but are never acknowledged. */
  unacknowledged: Set<string>;
  /** The `published` signals, of one workflow or of all. */
  published: (workflowId?: string) => PublishedSignal[];
};

/** The receiver on a real port, served like in the product. */
export async function startApi(
  deps: Pick<ApiDeps, 'client' | 'config'> & Partial<ApiDeps>,
  timeouts: Partial<HttpTimeouts> = {},
): Promise<RunningApi> {
  const log: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(line) });
  const app = createApi({
    operatorToken: OPERATOR_TOKEN,
    deliveryDeadlineMs: DEADLINE_MS,
    readDeadlineMs: DEADLINE_MS,
    logger,
    temporalReady: () => true,
    ...deps,
  });
  const { url, stop } = await serve(app, { host: '127.0.0.1', port: 0, variable: 'PORT' }, timeouts);
  return { url, routes: routesIn(app.router.stack), log, stop };
}

/**
 * A receiver without a Temporal server: the SDK's client records and acknowledges each signal. For tests of verification,
 * parsing and responses.
 */
export async function startRecordingApi(
  config: GalleyConfig,
  timeouts: Partial<HttpTimeouts> = {},
  deps: Partial<ApiDeps> = {},
): Promise<RecordingApi> {
  const sent: SentSignal[] = [];
  const unacknowledged = new Set<string>();
  const connection = Connection.lazy({ address: '127.0.0.1:1', ...RECEIVER_CONNECTION });
  const recorder: WorkflowClientInterceptor = {
    async signalWithStart({ workflowType: type, options, signalName: name, signalArgs: [payload] }) {
      sent.push({ workflowId: options.workflowId, type, taskQueue: options.taskQueue, name, payload });
      if (unacknowledged.has(options.workflowId)) throw new Error('the connection was lost');
      return 'run';
    },
    // For the state of a site: no workflow runs.
    describe: async ({ workflowExecution: { workflowId = '' } }) => {
      throw new WorkflowNotFoundError('no such workflow', workflowId, undefined);
    },
    query: async () => {
      throw new Error('no such workflow');
    },
  };
  const client = new Client({ connection, interceptors: { workflow: [recorder] } });
  // No interceptor gets this call. Nothing was renamed.
  const list = client.workflow.list.bind(client.workflow);
  const none = async function* () {};
  Object.assign(client.workflow, {
    list: (options: ListOptions) => (options.query?.includes(WORKFLOW_TYPES.renamedSite) ? none() : list(options)),
  });
  const api = await startApi({ client, config, ...deps }, timeouts);
  return {
    ...api,
    sent,
    unacknowledged,
    published: (workflowId) =>
      sent
        .filter((each) => each.name === SIGNALS.published && each.workflowId === (workflowId ?? each.workflowId))
        .map(({ payload }) => publishedSignal.parse(payload)),
    async stop() {
      await api.stop();
      await connection.close();
    },
  };
}

/** A minimal configuration with these sites. */
export function configWith(
  sites: Record<string, { webhooks?: object; export?: object; agent?: object[] }>,
): GalleyConfig {
  return galleyConfig.parse({
    adminApi: { url: 'http://127.0.0.1:1', key: 'galley_unused' },
    sites: Object.fromEntries(
      Object.entries(sites).map(([name, site]) => [name, { domain: `${name}.example.com`, ...site }]),
    ),
  });
}

/** The `published` signals in the history of a site's workflow, oldest first. */
export async function publishedSignals(client: Client, site: string): Promise<PublishedSignal[]> {
  const history = await client.workflow.getHandle(WORKFLOW_IDS.exportSite(site)).fetchHistory();
  return (history.events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => {
    const payload = signal?.input?.payloads?.[0];
    if (signal?.signalName !== SIGNALS.published || !payload) return [];
    return [publishedSignal.parse(defaultPayloadConverter.fromPayload(payload))];
  });
}
