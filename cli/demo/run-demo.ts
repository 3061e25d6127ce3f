import type { Logger } from 'pino';
import { errorText } from '../../embedded/report.ts';
import { CommandError } from '../command-error.ts';
import { readSettings, type Variables } from '../environment.ts';
import type { Lifetime } from '../lifetime.ts';
import { packageRoot } from '../package-root.ts';
import { serve } from '../serve.ts';
import { ensureProject } from '../up/first-organization.ts';
import { startEverything } from '../up/start-everything.ts';
import { createDocumentationSite } from './documentation-site.ts';
import { createOrigin } from './origin.ts';
import { publishEntry, type Stage, seeRefreshes, seeServed, watchExport } from './steps.ts';
import { createWorkspace, DOMAIN, type Workspace } from './workspace.ts';

interface Surroundings {
  logger: Logger;
  lifetime: Lifetime;
  variables: Variables;
  say(line: string): void;
}

/** So short that refreshes are seen while one watches. */
const LINK_TTL = '12s';

/**
 * The whole way once: publish, export, deploy; edit, publish again; refresh twice.
 * @throws CommandError naming the step that wasn't seen.
 */
export async function runDemo({ logger, lifetime, variables, say }: Surroundings): Promise<void> {
  const { signal } = lifetime;
  const step = numbered(say);
  const workspace = await createWorkspace();
  lifetime.onStop('demo folder', workspace.remove);

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
    const started = await startEverything({ settings: demoSettings(workspace, variables), logger, lifetime });
    const { admin } = started;
    if (admin === undefined) throw new CommandError('the demo needs a platform of its own');
    const project = await ensureProject(admin, { domain: DOMAIN });
    await admin.setProject({ project, origin: origin.url });
    return started;
  });
  const { addresses } = everything;
  say(`  origin ${origin.url}, platform ${addresses.platform}, api ${addresses.api}`);
  say(`  deployment ${addresses.deployments[0]?.url}, Temporal UI ${addresses.temporalUi}`);
  const stage: Stage = { everything, workspace, documentation, say, signal };

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
    BUNDLE_LINK_TTL: LINK_TTL,
    MIN_REFRESH_INTERVAL: '1s',
  });
}

function seconds(fromMs: number, toMs: number): string {
  return ((toMs - fromMs) / 1000).toFixed(1);
}
