import { z } from 'zod';
import { createContext } from '../programs/process/context.ts';
import { openHome, type RunningAddresses } from '../programs/process/home.ts';
import { pagesUrl } from '../programs/process/serve.ts';
import type { Variables } from '../programs/settings/environment.ts';
import { CommandError, UsageError } from './command-error.ts';
import { openOrchestrator, orchestratorUrl, sitePath } from './orchestrator-client.ts';
import { printJson, printLines } from './output.ts';

export interface OpenOptions {
  served?: boolean;
  temporal?: boolean;
  print?: boolean;
  url?: string;
  json?: boolean;
}

const signInLink = z.object({ path: z.string().startsWith('/') });

/** Runs the command `open`. */
export async function openPage(site: string | undefined, options: OpenOptions): Promise<void> {
  if (options.served && options.temporal) throw new UsageError('--served and --temporal: expected one of them');
  const url = options.served || options.temporal ? await addressOfUp(site, options) : await sitesPage(site, options);
  const { variables } = createContext({ quiet: true }).settings;
  const isOpened = options.print !== true && options.json !== true && hasDisplay(variables) && (await launch(url));
  if (options.json) printJson({ url });
  else printLines([isOpened && 'Opened in the browser:', url]);
}

/** The sites page or one site's, by a link that signs in once if the api makes one. */
async function sitesPage(site: string | undefined, options: OpenOptions): Promise<string> {
  const { ask } = await openOrchestrator(options);
  const url = await orchestratorUrl(options);
  const base = options.url === undefined ? pagesUrl(url) : url;
  const path = site === undefined ? '/' : `/ui/sites/${encodeURIComponent(site)}`;
  // Reports an unknown site before the browser does.
  if (site !== undefined) await ask(sitePath(site));
  // An api of another release makes no links: its page asks for the token.
  const link = await ask('/ui/sign-in/links', 'POST').then(
    (response) => signInLink.safeParse(response).data?.path,
    () => undefined,
  );
  return new URL(link === undefined ? path : `${link}&to=${encodeURIComponent(path)}`, base).href;
}

async function addressOfUp(site: string | undefined, { temporal }: OpenOptions): Promise<string> {
  const { settings } = createContext({ quiet: true });
  const running = await openHome(settings.home).running();
  if (temporal && settings.temporalUiUrl !== undefined) return settings.temporalUiUrl;
  if (running === undefined)
    throw new CommandError(
      `No galley up runs on ${settings.home}: start it, or set GALLEY_HOME to that of a running one`,
    );
  if (!temporal) return await servedBy(running, site);
  if (running.temporalUi === null) throw new UsageError('TEMPORAL_UI_URL: expected the URL of the UI of your Temporal');
  return running.temporalUi;
}

async function servedBy({ deployments }: RunningAddresses, site: string | undefined): Promise<string> {
  if (site === undefined) {
    const [first] = deployments;
    if (first === undefined) throw new CommandError('The running galley up has no deployment');
    return first.url;
  }
  const { checkConfiguration } = await import('../programs/config/check-configuration.ts');
  const { sites } = await checkConfiguration(createContext({ quiet: true }).settings);
  const valuesFiles = sites[site]?.export.deployments.map(({ valuesFile }) => valuesFile) ?? [];
  const found = deployments.find(({ valuesFile }) => valuesFiles.includes(valuesFile));
  if (found === undefined) throw new UsageError(`${site}: the running galley up serves no deployment of such a site`);
  return found.url;
}

/** Linux has no browser to open without one of them; macOS and Windows always have. */
function hasDisplay({ DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME }: Variables): boolean {
  return process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY || WSL_DISTRO_NAME);
}

async function launch(url: string): Promise<boolean> {
  const { default: open } = await import('open');
  return await open(url).then(
    () => true,
    () => false,
  );
}
