import { localValuesFiles } from '../../contract/deployment-config.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { Home } from '../process/home.ts';
import type { Settings } from '../settings/environment.ts';
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
