import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type AdminApiClient, type AgentJob, createAdminApiClient } from '../../../client/admin-api-client.ts';
import {
  type AgentChangeState,
  type AgentRuleState,
  agentChangeState,
  agentRuleState,
} from '../../../contract/agent-state.ts';
import { QUERIES, WORKFLOW_IDS } from '../../../contract/names.ts';
import { createBareRepository } from '../../../embedded/bare-repository.ts';
import type { ReceivedMail } from '../../../embedded/mailbox/mailbox.ts';
import { freePort } from '../free-port.ts';
import { builtGalley } from './built-product.ts';
import { type Cleanups, startWithCleanups } from './cleanups.ts';
import { type InterceptingProxy, startInterceptingProxy } from './intercepting-proxy.ts';
import { FORGE_SECRET, OPERATOR_TOKEN, type Orchestrator, startOrchestrator } from './orchestrator.ts';
import { type OriginSite, page, startOriginSite } from './origin-site.ts';
import { createPrograms, type Programs } from './programs.ts';
import { runToEnd } from './run-to-end.ts';
import { startUnsyncedTemporal, type TemporalServer } from './temporal-server.ts';
import { waitFor } from './wait-for.ts';

export interface AgentSystemOptions {
  smtpUrl: string;
  /** The first commit, by path, of a repository of the embedded forge; or the repository and its Gitea. */
  files?: Readonly<Record<string, string>>;
  gitea?: { url: string; token: string; repository: string };
  /** Further keys of the rule. Its prompt is the published entry's title, so each test controls the prompt. */
  rule?: Readonly<Record<string, unknown>>;
}

/** One site with one agent rule, on the whole product: every part in a separate process, with real HTTP between them. */
export interface AgentSystem extends Orchestrator {
  /** The orchestrator's Temporal server. */
  temporal: TemporalServer;
  /** `platform` (a `galley up` of which only the platform is used), `api` and `worker`. */
  programs: Programs;
  origin: OriginSite;
  /** Runs git in the repository of the embedded forge. */
  git(...args: string[]): Promise<string>;
  /** Between the orchestrator and the platform, with its forge. */
  proxy: InterceptingProxy;
  client: AdminApiClient;
  rule(): Promise<AgentRuleState>;
  change(workflowId: string): Promise<AgentChangeState>;
  /** Waits until the change is in this phase. */
  untilChange(workflowId: string, phase: AgentChangeState['phase']): Promise<AgentChangeState>;
  /** The platform's own list of agent jobs, newest first. */
  jobs(): Promise<AgentJob[]>;
  stop(): Promise<void>;
}

export const SITE = 'handbook';
export const RULE = 'notes';
const PROJECT = `prj_${SITE}`;
const DOMAIN = `${SITE}.example.test`;

export async function startAgentSystem(options: AgentSystemOptions): Promise<AgentSystem> {
  return await startWithCleanups(async (cleanups) => await start(options, cleanups));
}

type Platform = {
  url: string;
  key: string;
  setProject(...options: string[]): Promise<void>;
};

async function start(options: AgentSystemOptions, cleanups: Cleanups): Promise<AgentSystem> {
  const galley = await builtGalley();
  const folder = await mkdtemp(join(tmpdir(), 'galley-agent-system-'));
  cleanups.add(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const { gitea, files = { 'README.md': 'unused\n' } } = options;
  const bare = await createBareRepository(join(folder, 'handbook.git'), files);
  const origin = await startOriginSite({ '/': page('home') });
  cleanups.add(origin.close);
  const temporal = await startUnsyncedTemporal(cleanups);
  const programs = createPrograms(galley);
  cleanups.add(programs.stop);
  const forge = gitea && { FORGE_KIND: 'gitea', FORGE_URL: gitea.url, FORGE_TOKEN: gitea.token };
  const platform = await startPlatform({ folder, galley, programs, origin, forge });
  const proxy = await startInterceptingProxy(platform.url);
  cleanups.add(proxy.close);

  const client = createAdminApiClient({ url: platform.url, key: platform.key });
  const rule = { name: RULE, on: 'publish', prompt: '{{ event.title }}', quietPeriod: '100ms', maxPerHour: 100 };
  const orchestrator = await startOrchestrator({
    ...{ folder, programs, temporalAddress: temporal.address },
    sites: [{ name: SITE, domain: DOMAIN, projectId: PROJECT, agent: [{ ...rule, ...options.rule }] }],
    adminApi: { url: proxy.url, key: platform.key },
    sections: {
      smtp: { url: options.smtpUrl, from: 'Galley <galley@example.com>' },
      operators: ['ops@example.com'],
      forge: gitea
        ? { kind: 'gitea', url: gitea.url, token: gitea.token }
        : { kind: 'embedded', url: proxy.url, token: OPERATOR_TOKEN },
    },
  });
  const webhook = ['--webhook', `${orchestrator.url}/webhooks/${SITE}/github`, '--webhook-secret', FORGE_SECRET];
  await platform.setProject('--repository', gitea?.repository ?? bare.url, ...(gitea ? [] : webhook));

  const query = async (workflowId: string): Promise<unknown> =>
    await temporal.client.workflow.getHandle(workflowId).query(QUERIES.state);
  const change = async (workflowId: string): Promise<AgentChangeState> =>
    agentChangeState.parse(await query(workflowId));

  return {
    ...orchestrator,
    ...{ temporal, programs, origin, proxy, client, change },
    git: bare.git,
    rule: async () => agentRuleState.parse(await query(WORKFLOW_IDS.agentRule(SITE, RULE))),
    untilChange: async (workflowId, phase) =>
      await waitFor(
        async () => {
          const state = await change(workflowId);
          if (state.error !== null && phase !== 'failed') throw new Error(state.error);
          return state.phase === phase && state;
        },
        { describe: `reached the phase ${phase}` },
      ),
    jobs: async () => (await client.agentJobs.list({ projectId: PROJECT }).page()).jobs,
    stop: cleanups.run,
  };
}

interface Setup {
  folder: string;
  galley: string;
  programs: Programs;
  origin: OriginSite;
  /** Variables of a hosted forge. */
  forge: Readonly<Record<string, string>> | undefined;
}

/** Starts the platform with its own Temporal server, separate from the orchestrator's. */
async function startPlatform({ folder, galley, programs, origin, forge }: Setup): Promise<Platform> {
  const config = join(folder, 'platform.yaml');
  await writeFile(config, '{"sites": {}}');
  const all = {
    ...forge,
    ...{ PORT: '0', DEPLOYMENT_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' },
    PLATFORM_PORT: String(await freePort()),
    GALLEY_HOME: join(folder, 'homes', 'platform'),
    GALLEY_CONFIG: config,
    OPERATOR_TOKEN,
  };
  const { url } = await programs.start({ name: 'platform', args: ['up'], variables: all });
  const command = async (...args: string[]): Promise<string> => await runToEnd(galley, args, all);
  const created = await command('keys', 'create', '--organization', 'Tests', '--json');
  const project = ['--project', PROJECT, '--domain', DOMAIN, '--origin', origin.origin];
  await command('projects', 'add', '--organization', 'Tests', ...project);
  return {
    url,
    key: z.object({ key: z.string() }).parse(JSON.parse(created)).key,
    setProject: async (...options) => {
      await command('projects', 'set', '--project', PROJECT, ...options);
    },
  };
}

/** Publishes a prompt and waits until its pull request is in review. */
export async function openChange(
  system: AgentSystem,
  prompt: string,
): Promise<{ workflowId: string; prLink: string; state: AgentChangeState }> {
  const response = await system.publish(SITE, prompt);
  if (response.status !== 202) throw new Error(`the publish was answered ${response.status}`);
  const started = async () => (await system.rule()).changes[0]?.workflowId;
  const workflowId = await waitFor(started, { describe: 'started a change' });
  const state = await system.untilChange(workflowId, 'in-review');
  return { workflowId, prLink: state.prLink ?? '', state };
}

/** Opens the link in a reviewer's mail, and sends the forms of the page that it leads to. */
export async function actAsReviewer(mail: ReceivedMail, prLink: string) {
  const link = /\S+\/review\?key=\S+/.exec(mail.text)?.[0] ?? 'no link';
  const opened = await fetch(link, { redirect: 'manual' });
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  const form = await (await fetch(prLink, { headers: { accept: 'text/html', cookie } })).text();
  const token = /name="token" value="([^"]+)"/.exec(form)?.[1] ?? 'no token';
  const send = async (path: string, fields: Record<string, string>): Promise<number> => {
    const body = new URLSearchParams({ ...fields, token });
    return (await fetch(`${prLink}/${path}`, { method: 'POST', body, redirect: 'manual' })).status;
  };
  return { link, send };
}
