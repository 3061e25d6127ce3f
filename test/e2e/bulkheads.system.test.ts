import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { SIGNALS, TASK_QUEUES, WORKFLOW_IDS, WORKFLOW_TYPES } from '../../contract/names.ts';
import { deploymentPool, type Pool, slotsOf } from '../../contract/pools.ts';
import type { PublishEvent, PublishedSignal } from '../../contract/publish-event.ts';
import { TARGET_KINDS, type TargetKind } from '../../contract/target-kind.ts';
import { type Call, createFakeAdminApi, type FakeAdminApi } from '../helpers/admin-api/fake-admin-api.ts';
import { type HttpSite, startHttpSite } from '../helpers/http-site.ts';
import { type NotificationReceiver, startNotificationReceiver } from '../helpers/notification-receiver.ts';
import { type SilentServer, startSilentServer } from '../helpers/silent-server.ts';
import { type ScriptedSmtpServer, startScriptedSmtp } from '../helpers/smtp-server.ts';
import { builtGalley } from '../helpers/system/built-product.ts';
import { type Cleanups, startWithCleanups } from '../helpers/system/cleanups.ts';
import { createGate, type Gate } from '../helpers/system/gate.ts';
import {
  OPERATOR_TOKEN,
  type Orchestrator,
  type SiteSetup,
  startOrchestrator,
} from '../helpers/system/orchestrator.ts';
import { createPrograms, type Programs } from '../helpers/system/programs.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { startTemporalServer, type TemporalServer } from '../helpers/system/temporal-server.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const CALLS = 150;
const HEALTHY = 'healthy';
const quick = { quietPeriod: '100ms', maxWait: '1s' };
const secret = `whsec_${Buffer.from('a secret of the deploy hooks').toString('base64')}`;
const numbers = Array.from({ length: CALLS }, (_, index) => index);

type System = Orchestrator & {
  temporal: TemporalServer;
  programs: Programs;
  adminApi: FakeAdminApi;
  /** The Admin API responds to no call for which this holds, until the gate is open. */
  hold: { holds(call: Pick<Call, 'path' | 'body'>): boolean; gate: Gate };
  stop(): Promise<void>;
};

/** What stands in galley.yaml. */
type Setup = (folder: string) => { sites: SiteSetup[]; forgeUrl: string; smtpUrl: string };

async function startSystem(setup: Setup): Promise<System> {
  return await startWithCleanups((cleanups) => start(setup, cleanups));
}

async function start(setup: Setup, cleanups: Cleanups): Promise<System> {
  const galley = await builtGalley();
  const folder = await mkdtemp(join(tmpdir(), 'galley-bulkheads-'));
  cleanups.add(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const temporal = await startTemporalServer(join(folder, 'temporal.db'));
  cleanups.add(temporal.stop);
  const { sites, forgeUrl, smtpUrl } = setup(folder);
  const adminApi = createFakeAdminApi({ other: (call) => agentJob(call, forgeUrl) });
  const hold: System['hold'] = { holds: () => false, gate: createGate() };
  const server = await startHttpSite(async (request, response) => {
    const body = await text(request);
    if (hold.holds({ path: request.url ?? '', body })) await hold.gate.pass();
    await adminApi.handle(request, response, body);
  });
  cleanups.add(server.close);
  cleanups.add(async () => hold.gate.open());
  await writeFile(join(folder, 'helm'), '#!/bin/sh\nexec sleep 86400\n', { mode: 0o755 });
  const programs = createPrograms(galley);
  cleanups.add(programs.stop);
  const orchestrator = await startOrchestrator({
    ...{ folder, programs, sites },
    sections: {
      smtp: { url: smtpUrl, from: 'galley@example.com' },
      forge: { kind: 'gitea', url: forgeUrl, token: 'token' },
      operators: ['ops@example.com'],
    },
    temporalAddress: temporal.address,
    adminApi: { url: server.origin, key: adminApi.key },
    variables: { PATH: `${folder}${delimiter}${process.env.PATH}`, MIN_REFRESH_INTERVAL: '1s' },
  });
  return { ...orchestrator, temporal, programs, adminApi, hold, stop: cleanups.run };
}

/** A job is completed at once. Those of the project `forge` opened a pull request there, the others at another forge. */
function agentJob({ path }: Call, forgeUrl: string): { status: number; body: string } | undefined {
  const [, project, id = String(jobs)] = /^\/v2\/agent\/([^/]+)\/job(?:\/([^/]+))?$/.exec(path) ?? [];
  if (project === undefined) return undefined;
  jobs++;
  const prLink = `${project === 'forge' ? forgeUrl : 'https://elsewhere.test'}/acme/docs/pulls/${id}`;
  return {
    status: 201,
    body: JSON.stringify({ id, status: 'completed', prLink, createdAt: new Date().toISOString() }),
  };
}
let jobs = 1;

const rule = { on: 'publish', prompt: '{{ event.title }}', quietPeriod: '100ms', reviewers: ['eva@example.com'] };

/** Each of its rules prompts an agent with a publish. */
function prompting(project: string): SiteSetup {
  const agent = numbers.map((number) => ({ ...rule, name: `rule-${number}` }));
  return { name: `${project}-hangs`, domain: `${project}.example.com`, export: quick, projectId: project, agent };
}

function healthySite(more: Partial<SiteSetup> = {}): SiteSetup {
  return { name: HEALTHY, domain: 'healthy.example.com', export: quick, ...more };
}

/** A busy machine may need more than one delivery, as a CMS would send. */
async function publish(system: System, site: string): Promise<void> {
  await waitFor(async () => (await system.publish(site)).status === 202, { describe: 'accepted' });
}

/** Prompts an agent for each rule of a site. One delivery would have to reach all within its deadline. */
async function promptAll({ temporal }: System, site: string): Promise<void> {
  const at = new Date().toISOString();
  const about = { source: 'test', topic: 'publish', action: 'publish', id: '1', title: 'Hello', url: '' } as const;
  const newest: PublishEvent = { ...about, author: 'eva', at };
  const deliveries = [{ id: '1', source: 'test', receivedAt: at, dedupeMs: 0 }];
  const signal: PublishedSignal = { deliveries, newest, events: [newest] };
  for (const number of numbers) {
    const rule = `rule-${number}`;
    await temporal.client.workflow.signalWithStart(WORKFLOW_TYPES.agentRule, {
      workflowId: WORKFLOW_IDS.agentRule(site, rule),
      taskQueue: TASK_QUEUES.orchestrator,
      args: [{ site, rule }],
      signal: SIGNALS.published,
      signalArgs: [signal],
    });
  }
}

/** Ends the workflows of a site's rules and their changes, which would go on to hang. */
async function endRules({ temporal }: System, site: string): Promise<void> {
  const { workflow } = temporal.client;
  for (const id of [WORKFLOW_IDS.agentRule(site, ''), WORKFLOW_IDS.agentChange(site, '', '')]) {
    const query = `WorkflowId STARTS_WITH '${id.replace(/:+$/, '')}' AND ExecutionStatus = 'Running'`;
    for await (const { workflowId } of workflow.list({ query })) {
      // It may have ended meanwhile.
      await workflow
        .getHandle(workflowId)
        .terminate('the scenario is over')
        .catch(() => {});
    }
  }
}

/** Publishes an edition of a site, refreshes its link and waits until both are written. */
async function publishAndRefresh(system: System): Promise<void> {
  const { adminApi, valuesFile, url } = system;
  const content = ++adminApi.behaviour.content;
  const values = async (): Promise<string> => await readFile(valuesFile(HEALTHY), 'utf8');
  await publish(system, HEALTHY);
  const written = await waitFor(
    async () => {
      const file = await values();
      return file.includes(`content=${content}&`) && file;
    },
    { describe: 'published', timeoutMs: 300_000 },
  );
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  // On a busy machine a write may fail once, and is repeated.
  const refresh = () => fetch(`${url}/sites/${HEALTHY}/refresh`, { method: 'POST', headers });
  await waitFor(async () => (await refresh()).status === 200, { describe: 'refreshed', timeoutMs: 300_000 });
  expect(await values()).not.toBe(written);
}

describe('150 hanging calls of one site delay no other site', () => {
  let [deployments, mail, forge]: SilentServer[] = [];
  const silentUrl = (): string => `http://127.0.0.1:${deployments?.port}`;

  /** What hangs for a deployment of each kind. A pipe without a writer blocks like a mount without its server. */
  const HANGING: Record<TargetKind, (number: number, folder: string) => object> = {
    valuesFile: (number, folder) => ({ valuesFile: join(folder, 'pipes', `${number}.yaml`) }),
    git: (number) => ({ git: { repository: `${silentUrl()}/${number}.git`, path: 'values.yaml' } }),
    helm: (number) => ({ helm: { release: `docs-${number}`, namespace: 'docs', chart: './chart' } }),
    http: (number) => ({ http: { url: `${silentUrl()}/${number}`, secret } }),
    directory: (number, folder) => ({ directory: join(folder, 'pipes', String(number)) }),
    s3: (number) => ({
      s3: {
        url: `s3://docs/${number}?endpoint=${encodeURIComponent(silentUrl())}`,
        accessKeyId: 'key',
        secretAccessKey: 'secret',
      },
    }),
    airgap: (number, folder) => ({ airgap: join(folder, 'pipes', `airgap-${number}`) }),
  };
  const siteOf = (kind: string): string => `${kind.toLowerCase()}-hangs`;
  const withStatus = (number: number, folder: string): object => ({
    valuesFile: join(folder, 'asked', `${number}.yaml`),
    statusUrl: `${silentUrl()}/-/status`,
  });

  let system: System;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    [deployments, mail, forge] = await Promise.all(Array.from({ length: 3 }, startSilentServer));
    const kinds = [...TARGET_KINDS.map((kind) => [kind, HANGING[kind]] as const), ['status', withStatus] as const];
    system = await startSystem((folder) => ({
      sites: [
        healthySite(),
        ...kinds.map(([name, deployment]) => ({
          ...{ name: siteOf(name), domain: `${name.toLowerCase()}.example.com`, export: quick },
          deployments: numbers.map((number) => ({ ...deployment(number, folder) })),
        })),
        ...['admin', 'mail', 'forge'].map(prompting),
      ],
      forgeUrl: `http://127.0.0.1:${forge?.port}`,
      smtpUrl: `smtp://127.0.0.1:${mail?.port}`,
    }));
    await makePipes(dirname(system.valuesFile(HEALTHY)));
  });
  afterAll(async () => {
    await system?.stop();
    await Promise.all([deployments, mail, forge].map((server) => server?.stop()));
  });

  /** The calls of an activity that a site has under way. */
  async function underWay(site: string, activity: string): Promise<number> {
    const { raw } = await system.temporal.client.workflow.getHandle(WORKFLOW_IDS.exportSite(site)).describe();
    const calls = raw.pendingActivities ?? [];
    // 2: started.
    return calls.filter(({ activityType, state }) => activityType?.name === activity && state === 2).length;
  }

  /** The healthy site publishes and refreshes while the calls of another one hang, which is removed then. */
  async function expectBulkhead(site: string, hangs: () => Promise<boolean> | boolean): Promise<void> {
    await waitFor(hangs, { describe: `hung for ${site}`, timeoutMs: 300_000 });
    await publishAndRefresh(system);
  }

  async function expectBulkheadOf(
    site: string,
    activity: 'writeDeployment' | 'askDeployment',
    pool: Pool,
  ): Promise<void> {
    await publish(system, site);
    await expectBulkhead(site, async () => (await underWay(site, activity)) >= share(pool));
    // No call has ended but that to its own values file.
    const { deployments: all } = await system.state(site);
    const ended = all.slice(1).map((each) => (activity === 'writeDeployment' ? each.writtenAt : each.servedAt));
    expect(ended).toEqual(numbers.map(() => null));
    expect((await system.remove(site)).status).toBe(200);
  }

  /** How many of its slots a site may use. */
  const share = (pool: Pool): number => Math.max(Math.floor(slotsOf(pool) / 10), 1);

  for (const kind of TARGET_KINDS) {
    scenario(`to deployments of the kind ${kind}`, async () => {
      await expectBulkheadOf(siteOf(kind), 'writeDeployment', deploymentPool(kind));
    });
  }

  scenario('to the status of deployments', async () => {
    await expectBulkheadOf(siteOf('status'), 'askDeployment', 'status');
  });

  scenario('to the Admin API', async () => {
    system.hold.holds = ({ path }) => path.startsWith('/v2/agent/admin/');
    await promptAll(system, 'admin-hangs');
    await expectBulkhead('admin-hangs', () => system.hold.gate.arrivals >= share('admin-api'));
    await endRules(system, 'admin-hangs');
  });

  scenario('to the mail server', async () => {
    await promptAll(system, 'mail-hangs');
    await expectBulkhead('mail-hangs', () => (mail?.connections() ?? 0) > 0);
    await endRules(system, 'mail-hangs');
  });

  scenario('to the forge', async () => {
    await promptAll(system, 'forge-hangs');
    await expectBulkhead('forge-hangs', () => (forge?.connections() ?? 0) >= share('forge'));
    await endRules(system, 'forge-hangs');
  });
});

describe('an Admin API that hangs for all', () => {
  let system: System;
  let hook: NotificationReceiver;
  let forge: HttpSite;
  let smtp: ScriptedSmtpServer;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    hook = await startNotificationReceiver();
    forge = await startHttpSite((_, response) => response.writeHead(503).end());
    smtp = await startScriptedSmtp();
    const site = healthySite({
      export: { ...quick, tellAfter: '1s' },
      deployments: [{ http: { url: hook.url, secret } }],
      projectId: 'forge',
      agent: [{ ...rule, name: 'changelog' }],
    });
    system = await startSystem(() => ({ sites: [site], forgeUrl: forge.origin, smtpUrl: smtp.url }));
  });
  afterAll(async () => {
    await system?.stop();
    await Promise.all([hook.close(), forge.close(), smtp.close()]);
  });

  scenario('stops nothing else, and exports resume when it returns', async () => {
    const { adminApi, hold } = system;
    const held: ServerResponse[] = [];
    hook.answer = (response) => held.push(response);
    await publish(system, HEALTHY);
    await waitFor(() => held.length > 0, { describe: 'began a write' });
    await waitFor(() => forge.requests.length > 0, { describe: 'asked the forge' });

    hold.holds = () => true;
    const content = ++adminApi.behaviour.content;
    await publish(system, HEALTHY);
    await waitFor(() => hold.gate.arrivals > 0, { describe: 'called the Admin API' });
    hook.answer = (response) => response.end();
    for (const response of held.splice(0)) response.end();
    // Also a query.
    await waitFor(async () => (await system.state(HEALTHY)).deployments[1]?.version === 'v1', {
      describe: 'ended the write',
    });
    const asked = forge.requests.length;
    await waitFor(() => forge.requests.length > asked, { describe: 'asked the forge again', timeoutMs: 300_000 });
    await waitFor(() => smtp.taken.some(({ to }) => to.includes('ops@example.com')), {
      describe: 'mailed the failure',
      timeoutMs: 300_000,
    });
    const isExported = async () => (await readFile(system.valuesFile(HEALTHY), 'utf8')).includes(`content=${content}&`);
    expect(await isExported()).toBe(false);

    hold.holds = () => false;
    hold.gate.open();
    await waitFor(isExported, { describe: 'exported again' });
  });
});

/** What a write reads first, for each kind of deployment on a disk. */
async function makePipes(folder: string): Promise<void> {
  const paths = numbers.flatMap((number) => [
    join(folder, 'pipes', `${number}.yaml`),
    join(folder, 'pipes', String(number), '.galley', 'deployed.json'),
    join(folder, 'pipes', `airgap-${number}`, 'airgap-hangs', 'latest'),
  ]);
  for (const path of paths) await mkdir(dirname(path), { recursive: true });
  await promisify(execFile)('mkfifo', paths);
}
