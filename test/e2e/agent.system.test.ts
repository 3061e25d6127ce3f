import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type AgentJob, createAdminApiClient } from '../../client/admin-api-client.ts';
import {
  type AgentChangeState,
  type AgentRuleState,
  agentChangeState,
  agentRuleState,
} from '../../contract/agent-state.ts';
import { QUERIES, WORKFLOW_IDS } from '../../contract/names.ts';
import { type BareRepository, createBareRepository } from '../../embedded/bare-repository.ts';
import { type Mailbox, startMailbox } from '../../embedded/mailbox/mailbox.ts';
import type { ReceivedMail } from '../../embedded/mailbox/received-mail.ts';
import { freePort } from '../helpers/free-port.ts';
import { builtGalley } from '../helpers/system/built-product.ts';
import { type Cleanups, startWithCleanups } from '../helpers/system/cleanups.ts';
import { FORGE_SECRET, OPERATOR_TOKEN, type Orchestrator, startOrchestrator } from '../helpers/system/orchestrator.ts';
import { type OriginSite, page, startOriginSite } from '../helpers/system/origin-site.ts';
import { createPrograms, type Programs } from '../helpers/system/programs.ts';
import { runToEnd } from '../helpers/system/run-to-end.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { storedInTemporal } from '../helpers/system/stored-in-temporal.ts';
import { startUnsyncedTemporal, type TemporalServer } from '../helpers/system/temporal-server.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const FILES = {
  'CHANGELOG.md': '# Changelog\n',
  CODEOWNERS: '*.md grace@example.com\n',
};

describe('a publish that prompts an agent, on the whole product in separate processes', () => {
  let system: AgentSystem;
  let mailbox: Mailbox;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    mailbox = await startMailbox();
    system = await startAgentSystem({
      smtpUrl: mailbox.smtpUrl,
      files: FILES,
      rule: { reviewers: ['ada@example.com'] },
    });
  });

  afterAll(async () => {
    await system?.stop();
    await mailbox?.stop();
  });

  const receivers = (mails: ReceivedMail[]): string[] =>
    mails.flatMap(({ envelope }) => envelope.to.map(({ address }) => address)).sort();

  const mailsAbout = async (text: string): Promise<ReceivedMail[]> =>
    (await mailbox.mails()).filter((mail) => mail.text.includes(text));

  const untilMailed = async (text: string, count: number): Promise<ReceivedMail[]> =>
    await waitFor(
      async () => {
        const mails = await mailsAbout(text);
        return mails.length >= count && mails;
      },
      { describe: `sent ${count} mails about ${text}` },
    );

  scenario(
    'creates a pull request and one mail per reviewer, and completes with the merge, which prompts no agent',
    async () => {
      const response = await system.publish(
        SITE,
        "Replace '# Changelog' with '# Changelog\n\n* first' in CHANGELOG.md",
      );
      expect([response.status, await response.json()]).toEqual([
        202,
        { deliveryId: expect.any(String), accepted: [`export:${SITE}`, `agent-rule:${SITE}:${RULE}`] },
      ]);
      const workflowId = await waitFor(async () => (await system.rule()).changes[0]?.workflowId, {
        describe: 'started a change',
      });
      const state = await system.untilChange(workflowId, 'in-review');
      const prLink = state.prLink ?? '';
      expect(await (await fetch(prLink)).text()).toContain('* first');
      const mails = await untilMailed(prLink, 2);
      expect(receivers(mails)).toEqual(['ada@example.com', 'grace@example.com']);
      expect(await system.repository.git('show', 'main:CHANGELOG.md')).toBe('# Changelog');

      // Like a reviewer, open the link in the mail and submit the page's forms.
      const mail = mails.find(({ envelope }) => envelope.to.some(({ address }) => address === 'ada@example.com'));
      const link = /\S+\/review\?key=\S+/.exec(mail?.text ?? '')?.[0] ?? 'no link';
      const opened = await fetch(link, { redirect: 'manual' });
      const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
      const page = await (await fetch(prLink, { headers: { accept: 'text/html', cookie } })).text();
      const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? 'no token';
      const send = async (path: string, fields: Record<string, string>) => {
        const body = new URLSearchParams({ ...fields, token });
        return (await fetch(`${prLink}/${path}`, { method: 'POST', body, redirect: 'manual' })).status;
      };
      expect(await send('reviews', { event: 'APPROVE' })).toBe(303);
      await waitFor(async () => (await system.change(workflowId)).reviews.length > 0, {
        describe: 'received the review',
      });
      expect(await send('merge', {})).toBe(303);
      expect(await system.untilChange(workflowId, 'merged')).toMatchObject({
        pullRequest: { state: 'merged' },
        reviews: [{ reviewer: 'ada@example.com', verdict: 'approved' }],
        mails: [
          { event: 'review-requested', outcome: 'sent' },
          { event: 'review-requested', outcome: 'sent' },
        ],
      });
      const handle = system.temporal.client.workflow.getHandle(workflowId);
      await waitFor(async () => (await handle.describe()).status.name === 'COMPLETED', { describe: 'completed' });
      expect(await system.repository.git('show', 'main:CHANGELOG.md')).toBe('# Changelog\n\n* first');

      // The merge pushes to the site's branch: that starts an export but prompts no agent.
      await waitFor(
        async () =>
          (await system.state(SITE)).deliveries.some(
            ({ source, outcome }) => source === 'github' && outcome === 'started',
          ),
        { describe: 'received the merge as a push' },
      );
      expect(await system.rule()).toMatchObject({ phase: 'idle', pendingCount: 0, changes: [{ workflowId }] });
      expect(await system.jobs()).toHaveLength(1);
      expect(await mailsAbout(prLink)).toHaveLength(2);
      expect((await fetch(link, { redirect: 'manual' })).status).toBe(410);
      const stored = await storedInTemporal(system.temporal);
      expect(stored).toContain(prLink);
      expect(stored).not.toContain('/review?key=');
    },
  );
});

interface AgentSystemOptions {
  smtpUrl: string;
  /** The repository's first commit, by path. */
  files: Readonly<Record<string, string>>;
  /** Further keys of the rule. Its prompt is the published entry's title, so each test controls the prompt. */
  rule?: Readonly<Record<string, unknown>>;
}

/** One site with one agent rule, on the whole product: every part in a separate process, with real HTTP between them. */
interface AgentSystem extends Orchestrator {
  /** The orchestrator's Temporal server. */
  temporal: TemporalServer;
  /** `platform` (a `galley up` of which only the platform is used), `api` and `worker`. */
  programs: Programs;
  origin: OriginSite;
  repository: BareRepository;
  rule(): Promise<AgentRuleState>;
  change(workflowId: string): Promise<AgentChangeState>;
  /** Waits until the change is in this phase. */
  untilChange(workflowId: string, phase: AgentChangeState['phase']): Promise<AgentChangeState>;
  /** The platform's own list of agent jobs, newest first. */
  jobs(): Promise<AgentJob[]>;
  stop(): Promise<void>;
}

const SITE = 'handbook';
const RULE = 'notes';
const PROJECT = `prj_${SITE}`;
const DOMAIN = `${SITE}.example.test`;

async function startAgentSystem(options: AgentSystemOptions): Promise<AgentSystem> {
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
  const repository = await createBareRepository(join(folder, 'handbook.git'), options.files);
  const origin = await startOriginSite({ '/': page('home') });
  cleanups.add(origin.close);
  const temporal = await startUnsyncedTemporal(cleanups);
  const programs = createPrograms(galley);
  cleanups.add(programs.stop);
  const platform = await startPlatform({ folder, galley, programs, origin });

  const client = createAdminApiClient({ url: platform.url, key: platform.key });
  const rule = { name: RULE, on: 'publish', prompt: '{{ event.title }}', quietPeriod: '100ms', maxPerHour: 100 };
  const orchestrator = await startOrchestrator({
    ...{ folder, programs, temporalAddress: temporal.address },
    sites: [{ name: SITE, domain: DOMAIN, projectId: PROJECT, agent: [{ ...rule, ...options.rule }] }],
    adminApi: { url: platform.url, key: platform.key },
    sections: {
      smtp: { url: options.smtpUrl, from: 'Galley <galley@example.com>' },
      operators: ['ops@example.com'],
      forge: { kind: 'embedded', url: platform.url, token: OPERATOR_TOKEN },
    },
  });
  const webhook = ['--webhook', `${orchestrator.url}/webhooks/${SITE}/github`, '--webhook-secret', FORGE_SECRET];
  await platform.setProject('--repository', repository.url, ...webhook);

  const query = async (workflowId: string): Promise<unknown> =>
    await temporal.client.workflow.getHandle(workflowId).query(QUERIES.state);
  const change = async (workflowId: string): Promise<AgentChangeState> =>
    agentChangeState.parse(await query(workflowId));

  return {
    ...orchestrator,
    ...{ temporal, programs, origin, repository, change },
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
}

/** Starts the platform with its own Temporal server, separate from the orchestrator's. */
async function startPlatform({ folder, galley, programs, origin }: Setup): Promise<Platform> {
  const config = join(folder, 'platform.yaml');
  await writeFile(config, '{"sites": {}}');
  const all = {
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
