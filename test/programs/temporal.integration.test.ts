import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure, type DataConverter } from '@temporalio/common';
import { type NativeConnection, Worker } from '@temporalio/worker';
import pino from 'pino';
import { checkDeployments } from '../../cli/checks/deployments.ts';
import { poolTaskQueue, SEARCH_ATTRIBUTES, WATCHDOG_SCHEDULE, WORKFLOW_IDS } from '../../contract/names.ts';
import { createTogether } from '../../contract/worker-options.ts';
import { type GuardedChild, spawnGuarded } from '../../embedded/guarded-child.ts';
import { locateDevServer } from '../../embedded/temporal/locate-dev-server.ts';
import { startApi } from '../../programs/api.ts';
import { createLifetime } from '../../programs/process/lifetime.ts';
import { keepSchedule, WATCHDOG } from '../../programs/temporal/schedules.ts';
import { registerSearchAttributes } from '../../programs/temporal/search-attributes.ts';
import { createTemporal, type Temporal } from '../../programs/temporal/temporal.ts';
import { workflowBundle } from '../../programs/temporal/workflow-bundles.ts';
import { createSignInLinks } from '../../web/sign-in-links.ts';
import { createDeploymentWorker } from '../../worker/worker.ts';
import { agentChange } from '../../workflows/agent-change.ts';
import { configWith } from '../api/running-api.ts';
import { signToken } from '../api/sources/vendors/token.ts';
import { freePort } from '../helpers/free-port.ts';
import { RULE_SETTINGS } from '../helpers/rule-settings.ts';
import { runWorker } from '../helpers/run-worker.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { eventOf } from '../workflows/agent-fixture.ts';

const logger = pino({ level: 'silent' });

let server: GuardedChild;
let address: string;
const opened: Temporal[] = [];

function open(variables: Record<string, string>, encryptionKeys: Buffer[] = []): Temporal {
  const temporal = createTemporal({ settings: { variables, encryptionKeys }, logger });
  opened.push(temporal);
  return temporal;
}

/** Without Galley's search attributes, which only the embedded server gets at its start, and without data. */
async function startServer(port: number): Promise<GuardedChild> {
  const flags = ['--headless', '--ip', '127.0.0.1', '--port', String(port), '--namespace', 'docs'];
  return spawnGuarded(await locateDevServer(), ['server', 'start-dev', '--log-level', 'error', ...flags], process.env);
}

beforeAll(async () => {
  const port = await freePort();
  address = `127.0.0.1:${port}`;
  server = await startServer(port);
  const temporal = open({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'docs' });
  await waitFor(temporal.ready, { describe: 'answered' });
});

afterAll(async () => {
  await Promise.all(opened.map((temporal) => temporal.close()));
  await server.stop();
});

const HIDDEN = 'a message that nobody may read';

/** Without mail, which that worker can't send. */
const SETTINGS = { ...RULE_SETTINGS, mail: false };

/** A worker whose prompts can't be rendered, which fails their changes. */
async function runFailing(connection: NativeConnection, dataConverter: DataConverter) {
  const taskQueue = 'failing';
  const shared = { connection, dataConverter, namespace: 'docs' };
  const activities = {
    readRuleSettings: async () => SETTINGS,
    renderAgentPrompt: async () => {
      throw ApplicationFailure.nonRetryable(HIDDEN, 'Rejected');
    },
  };
  const pools = (['settings', 'admin-api'] as const).map((pool) => poolTaskQueue(taskQueue, pool));
  const worker = await createTogether([
    Worker.create({ ...shared, taskQueue, workflowBundle: workflowBundle('orchestrator', dataConverter) }),
    ...pools.map((pool) => Worker.create({ ...shared, taskQueue: pool, activities })),
  ]);
  return { taskQueue, running: await runWorker(worker) };
}

describe('the connection to Temporal', () => {
  test('follows the standard client variables', async () => {
    const temporal = open({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'docs' });
    expect({ address: temporal.address, namespace: temporal.namespace }).toEqual({ address, namespace: 'docs' });
    // The check has a short deadline, which a busy machine may miss.
    await waitFor(temporal.ready, { describe: 'was ready' });
    expect(await open({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'nowhere' }).ready()).toBe(false);
    expect(await open({ TEMPORAL_ADDRESS: '127.0.0.1:1' }).ready()).toBe(false);
  });

  test('hides the messages of failed activities and workflows, and reads them with a key of its list', async () => {
    const variables = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'docs' };
    const [older, newer] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const { client, dataConverter, connectWorker } = open(variables, [older]);
    const connection = await connectWorker(new AbortController().signal);
    const { running, taskQueue } = await runFailing(connection, dataConverter);
    const input = {
      site: 'docs',
      rule: 'changelog',
      events: [eventOf('entry-1', 'A page')],
      eventCount: 1,
      settings: SETTINGS,
    };
    const change = await client.workflow.start(agentChange, { workflowId: 'hidden', taskQueue, args: [input] });
    const cause = { type: 'AgentJobFailed', message: HIDDEN };
    await expect(change.result()).rejects.toMatchObject({ cause });
    await running.stop();
    await connection.close();

    const history = JSON.stringify(await change.fetchHistory());
    expect(history.match(/Encoded failure/g)).toHaveLength(2);
    expect(history).not.toContain(HIDDEN);
    const rotated = open(variables, [newer, older]).client.workflow.getHandle('hidden');
    await expect(rotated.result()).rejects.toMatchObject({ cause });
  });

  test('lets a worker wait until it is stopped', async () => {
    const stopping = new AbortController();
    const waiting = open({ TEMPORAL_ADDRESS: '127.0.0.1:1' }).connectWorker(stopping.signal);
    setTimeout(() => stopping.abort(), 300);
    await expect(waiting).rejects.toThrow();
  });

  test('registers the search attributes and says when a query can name them', async () => {
    const { client, namespace } = open({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'docs' });
    const stopping = new AbortController();
    const attributes = registerSearchAttributes({ client, namespace, logger, signal: stopping.signal });
    expect(attributes.ready()).toBe(false);
    await attributes.settled();
    expect(attributes.ready()).toBe(true);
    stopping.abort();
    const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
    expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.values(SEARCH_ATTRIBUTES)));
  });
});

describe('a Temporal that comes back empty', () => {
  it('gets its search attributes and the schedule again, and api is not ready before and takes publishes after', async () => {
    const port = await freePort();
    let emptied = await startServer(port);
    const variables = { TEMPORAL_ADDRESS: `127.0.0.1:${port}`, TEMPORAL_NAMESPACE: 'docs' };
    const temporal = open(variables);
    const { client, namespace } = temporal;
    const lifetime = createLifetime(logger);
    await waitFor(temporal.ready, { describe: 'answered' });
    const searchAttributes = registerSearchAttributes({ client, namespace, logger, signal: lifetime.signal });
    const config = configWith({ docs: { webhooks: { token: { secret: 'hush' } } } });
    const ports = { host: '127.0.0.1', port: 0 };
    const unset = { operatorToken: undefined, unsubscribeSecret: undefined, temporalUiUrl: undefined };
    const own = { home: await mkdtemp(join(tmpdir(), 'galley-api-')), filteredDeliveriesMaxBytes: 1_000_000 };
    const settings = { ...ports, ...unset, ...own, apiPublicUrl: undefined, trustedProxies: [] };
    const context = { temporal, searchAttributes, logger, lifetime };
    const { url } = await startApi({ config, settings, signInLinks: createSignInLinks() }, context);
    void keepSchedule(WATCHDOG, { client, logger, signal: lifetime.signal, lookEveryMs: 500 });

    const hasAttributes = async (): Promise<boolean> => {
      const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
      return Object.values(SEARCH_ATTRIBUTES).every((name) => customAttributes?.[name] !== undefined);
    };
    const untilReady = async (): Promise<void> => {
      await waitFor(async () => (await fetch(`${url}/readyz`)).ok, { describe: 'is ready', everyMs: 20 });
      expect(await hasAttributes()).toBe(true);
    };
    const untilAccepted = async (id: string): Promise<void> => {
      const body = JSON.stringify({ id });
      const headers = signToken({ secret: 'hush', body, path: '', at: new Date() });
      const deliver = () => fetch(`${url}/webhooks/docs/token`, { method: 'POST', headers, body });
      await waitFor(async () => (await deliver()).status === 202, { describe: `accepted ${id}` });
      const { typedSearchAttributes } = await client.workflow.getHandle(WORKFLOW_IDS.exportSite('docs')).describe();
      expect(typedSearchAttributes.getAll().map(({ key }) => key.name)).toContain(SEARCH_ATTRIBUTES.site);
    };
    const untilWatched = () =>
      waitFor(() => client.schedule.getHandle(WATCHDOG_SCHEDULE).describe(), { describe: 'has the schedule' });

    await untilReady();
    await untilAccepted('before');
    await untilWatched();
    await emptied.kill();
    emptied = await startServer(port);
    await untilReady();
    await untilAccepted('after');
    await untilWatched();
    await lifetime.stop();
    await emptied.stop();
    await rm(own.home, { recursive: true });
  });
});

describe('the check of a deployment host', () => {
  it('finds out whether a worker polls its queue', async () => {
    const settings = { variables: { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'docs' }, encryptionKeys: [] };
    const entries = [{ valuesFile: '/srv/values.yaml', host: 'eu-1' }];
    const look = () => checkDeployments('site docs', entries, { site: 'docs', deps: {}, temporal: { settings } });
    /** On a busy machine Temporal may not respond in time, which is a warning. */
    const check = () =>
      waitFor(
        async () => {
          const found = await look();
          return found[0]?.status !== 'warn' && found;
        },
        { describe: 'got a response' },
      );
    const fix = 'Start one on that machine: galley worker --deployment-host eu-1';
    expect(await check()).toMatchObject([{ status: 'fail', message: expect.stringContaining('eu-1'), fix }]);
    const connection = await open(settings.variables).connectWorker(new AbortController().signal);
    const worker = await createDeploymentWorker({
      ...{ connection, namespace: 'docs', host: 'eu-1', logger },
      readSite: () => undefined,
    });
    const running = runWorker(worker);
    await waitFor(async () => (await check())[0]?.status === 'ok', { describe: 'a worker polls' });
    await running.stop();
  });
});
