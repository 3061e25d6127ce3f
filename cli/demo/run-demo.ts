import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import send from 'send';
import { errorText } from '../../base/error-code.ts';
import { createBareRepository, requireGit } from '../../embedded/bare-repository.ts';
import { startMailbox } from '../../embedded/mailbox/mailbox.ts';
import { readSandbox, SandboxMissingError } from '../../platform/activities/agent/runners/sandbox/read-sandbox.ts';
import { ensureProject } from '../../programs/parts/ensure-projects.ts';
import type { Lifetime } from '../../programs/process/lifetime.ts';
import { packageRoot } from '../../programs/process/package.ts';
import { serve } from '../../programs/process/serve.ts';
import { readSettings, type Variables } from '../../programs/settings/environment.ts';
import { prepare } from '../../programs/up/prepare.ts';
import { type Everything, startEverything } from '../../programs/up.ts';
import { CommandError } from '../command-error.ts';
import { createDocumentationSite } from './documentation-site.ts';
import { approveAndMerge, seeCompleted, seeMails, seePullRequest } from './review-steps.ts';
import { publishEntry, type Stage, seeRefreshes, seeServed, watchExport } from './steps.ts';
import { createWorkspace, DOMAIN, REPOSITORY_FILES, REVIEWER, SITE, type Workspace } from './workspace.ts';

interface Context {
  logger: Logger;
  lifetime: Lifetime;
  variables: Variables;
  /** Whether the demo merges the pull request itself; otherwise the user does. */
  mergesItself: boolean;
  say(line: string): void;
}

/** Reports the end of the change that the user merges. */
type WatchMerge = () => Promise<void>;

/** Short, so that the user can watch refreshes. */
const LINK_TTL = '12s';

/**
 * The whole way once. First half: publish, export, deploy; edit, publish again; refresh twice. Second half, for the
 * same publish: prompt, pull request, mail, merge. If the merge is left to the user, resolves with what waits for it.
 * @throws CommandError naming the step that failed.
 */
export async function runDemo(context: Context): Promise<WatchMerge | undefined> {
  const { logger, lifetime, variables, mergesItself, say } = context;
  const { signal } = lifetime;
  const step = numbered(say);
  await requireGit();
  const mailbox = await startMailbox();
  lifetime.onStop('mailbox', mailbox.stop);
  const workspace = await createWorkspace(mailbox.smtpUrl);
  lifetime.onStop('demo folder', workspace.remove);
  const repository = await createBareRepository(`${workspace.folder}/handbook.git`, REPOSITORY_FILES);

  const documentation = await step('build the documentation of this project with VitePress', async () =>
    createDocumentationSite(packageRoot(), workspace.folder),
  );
  const origin = await serve(createOrigin(documentation.builtFolder), {
    host: '127.0.0.1',
    port: 0,
    variable: 'origin',
  });
  lifetime.onStop('origin', origin.stop);

  const everything = await step('start Temporal, the platform, the orchestrator and a deployment', async () => {
    const settings = demoSettings(workspace, variables);
    const started = await startEverything(await prepare(settings, lifetime), { settings, logger, lifetime });
    await configureProject(started, { origin: origin.url, repository: repository.url, secret: workspace.forgeSecret });
    return started;
  });
  for (const line of listUrls(everything, { origin: origin.url, mailbox: mailbox.webUrl })) say(line);
  const stage: Stage = { everything, workspace, documentation, mailbox, repository, say, signal };

  const firstJob = await step('publish, and see the page served', async () => {
    const text = `Published by the demo at ${new Date().toISOString()}.`;
    await documentation.edit(text);
    const sentAt = await publishEntry(stage, 'Handbook');
    const jobId = await watchExport(stage, null);
    const servedAt = await seeServed(stage, text);
    say(`  ${seconds(sentAt, servedAt)} s from the signed publish to the page served`);
    return jobId;
  });

  await step('edit a page, publish again, and see the new text served', async () => {
    const text = `Edited by the demo at ${new Date().toISOString()}.`;
    await documentation.edit(text);
    const sentAt = await publishEntry(stage, 'Handbook, edited');
    const served = seeServed(stage, text);
    const [servedAt] = await Promise.all([served, watchExport(stage, firstJob)]);
    say(`  ${seconds(sentAt, servedAt)} s from the signed publish to the new text served`);
  });

  await step(`see the link refreshed twice (it lives ${LINK_TTL})`, () => seeRefreshes(stage));

  const change = await step('see the pull request that the example agent made of the publish', async () => {
    if (!(await hasSandbox(variables.PATH))) say('  no usable bubblewrap: the example agent runs without a sandbox');
    return await seePullRequest(stage);
  });

  const key = await step('see the mails that ask for a review', () => seeMails(stage, change));

  if (mergesItself) {
    await step('approve, merge, and see the workflow completed', () => approveAndMerge(stage, change, key));
    return;
  }
  say(
    `\nOne step is yours: open the link in the mail to ${REVIEWER},\napprove and merge. The workflow then completes.`,
  );
  return () => seeCompleted(stage, change.workflowId);
}

function listUrls({ addresses }: Everything, { origin, mailbox }: { origin: string; mailbox: string }): string[] {
  const { platform, api, deployments, temporalUi } = addresses;
  const urls = { origin, platform, api, deployment: deployments[0]?.url, mailbox, 'Temporal UI': temporalUi };
  return Object.entries(urls).map(([name, url]) => `  ${name.padEnd(12)}${url ?? 'none'}`);
}

async function configureProject(
  { admin, addresses }: Everything,
  { origin, repository, secret }: { origin: string; repository: string; secret: string },
): Promise<void> {
  if (admin === undefined) throw new CommandError('the demo needs a platform of its own');
  const project = await ensureProject(admin, { domain: DOMAIN });
  const webhookUrl = new URL(`/webhooks/${SITE}/github`, addresses.api).href;
  await admin.setProject({ project, origin, repository, settings: { webhookUrl, webhookSecret: secret } });
}

/** The example agent is part of Galley, so it alone runs without a sandbox if there is none. */
async function hasSandbox(path = ''): Promise<boolean> {
  try {
    await readSandbox(path);
    return true;
  } catch (error) {
    if (error instanceof SandboxMissingError) return false;
    throw error;
  }
}

function numbered(say: (line: string) => void) {
  let number = 0;
  return async <T>(title: string, run: () => Promise<T>): Promise<T> => {
    number += 1;
    say(`\n${number}. ${title}`);
    const startedAt = Date.now();
    try {
      const result = await run();
      say(`  done in ${seconds(startedAt, Date.now())} s`);
      return result;
    } catch (error) {
      throw new CommandError(`Step ${number} failed (${title}): ${errorText(error)}`);
    }
  };
}

function demoSettings(workspace: Workspace, variables: Variables): ReturnType<typeof readSettings> {
  const { LOG_LEVEL, XDG_CACHE_HOME, PATH, HOME } = variables;
  return readSettings({
    ...{ LOG_LEVEL, XDG_CACHE_HOME, PATH, HOME },
    ...{ PORT: '0', PLATFORM_PORT: '0', DEPLOYMENT_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' },
    GALLEY_HOME: `${workspace.folder}/home`,
    GALLEY_CONFIG: workspace.configFile,
    CONTENTFUL_SECRET: workspace.contentfulSecret,
    FORGE_SECRET: workspace.forgeSecret,
    BUNDLE_LINK_TTL: LINK_TTL,
    MIN_REFRESH_INTERVAL: '1s',
  });
}

function seconds(fromMs: number, toMs: number): string {
  return ((toMs - fromMs) / 1000).toFixed(1);
}

/** Serves a built site like its own host: clean URLs, index pages of folders, and 404.html. */
function createOrigin(folder: string): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://origin');
    send(request, pathname, { root: folder, extensions: ['html'], index: 'index.html' })
      .on('error', () => {
        response.statusCode = 404;
        send(request, '/404.html', { root: folder })
          .on('error', () => response.end('not found'))
          .pipe(response);
      })
      .pipe(response);
  };
}
