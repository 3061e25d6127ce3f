import type { Logger } from 'pino';
import { localValuesFiles } from '../../contract/deployment-config.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { Settings } from '../environment.ts';
import type { Home } from '../home.ts';
import type { Lifetime } from '../lifetime.ts';
import { startDeployment } from '../programs/deployment.ts';
import type { ServingSettings } from '../settings/serving.ts';

export interface PlannedDeployment {
  valuesFile: string;
  host: string;
  port: number;
  serving: ServingSettings;
}

/**
 * A deployment for each values file in galley.yaml, the first on DEPLOYMENT_PORT and the others on the following ports.
 * Without any, one follows `values.yaml` in GALLEY_HOME, so that there is always one.
 */
export function planDeployments({ sites }: GalleyConfig, settings: Settings, home: Home): PlannedDeployment[] {
  const { host, deploymentPort } = settings;
  const named = Object.values(sites).flatMap((site) => localValuesFiles(site.export.deployments));
  const valuesFiles = named.length === 0 ? [home.path('values.yaml')] : named;
  return valuesFiles.map((valuesFile, index) => ({
    valuesFile,
    host,
    port: deploymentPort === 0 ? 0 : deploymentPort + index,
    serving: settings.serving,
  }));
}

interface Context {
  home: Home;
  logger: Logger;
  lifetime: Lifetime;
}

/**
 * An invalid values file doesn't stop other parts: its deployment responds 503, shows the reason in its status, and
 * follows the file.
 */
export async function startDeployments(
  planned: readonly PlannedDeployment[],
  context: Context,
): Promise<{ valuesFile: string; url: string }[]> {
  const started: { valuesFile: string; url: string }[] = [];
  for (const each of planned) {
    const { url } = await startDeployment(
      { ...each, sites: [{ valuesFile: each.valuesFile }], exitOnInvalidValues: false },
      context,
    );
    started.push({ valuesFile: each.valuesFile, url });
  }
  return started;
}
