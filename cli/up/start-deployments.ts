import type { Logger } from 'pino';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { Settings } from '../environment.ts';
import type { Home } from '../home.ts';
import type { Lifetime } from '../lifetime.ts';
import { startDeployment } from '../programs/deployment.ts';

interface Surroundings {
  settings: Settings;
  home: Home;
  logger: Logger;
  lifetime: Lifetime;
}

/**
 * A deployment for each values file that galley.yaml names, the first on DEPLOYMENT_PORT and the others on the ports
 * after it. Without any, one follows `values.yaml` in GALLEY_HOME, so that there is always one to look at.
 */
export async function startDeployments(
  { sites }: GalleyConfig,
  { settings, home, logger, lifetime }: Surroundings,
): Promise<{ valuesFile: string; url: string }[]> {
  const named = Object.values(sites).flatMap((site) => site.export.deployments.map(({ valuesFile }) => valuesFile));
  const valuesFiles = named.length === 0 ? [home.path('values.yaml')] : named;
  const started: { valuesFile: string; url: string }[] = [];
  for (const [index, valuesFile] of valuesFiles.entries()) {
    const port = settings.deploymentPort === 0 ? 0 : settings.deploymentPort + index;
    const { url } = await startDeployment({ valuesFile, host: settings.host, port }, { home, logger, lifetime });
    started.push({ valuesFile, url });
  }
  return started;
}
