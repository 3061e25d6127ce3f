import { ConfigurationError } from '../../contract/configuration-error.ts';
import { localValuesFiles } from '../../contract/deployment-config.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import { freePort } from '../../embedded/ports.ts';
import { checkConfiguration } from '../config/check-configuration.ts';
import { type Home, openHome } from '../process/home.ts';
import type { Lifetime } from '../process/lifetime.ts';
import type { Settings } from '../settings/environment.ts';
import type { ServingSettings } from '../settings/serving.ts';

export interface Prepared {
  /** Locked until the lifetime ends. */
  home: Home;
  deployments: PlannedDeployment[];
  /** The mail server of the dashboard: PLATFORM_SMTP_URL, otherwise the one of galley.yaml. */
  platformMail: Settings['platformMail'];
}

/**
 * Locks GALLEY_HOME and checks the settings, galley.yaml and the ports. It loads little, so that a mistake is reported
 * before everything that `up` starts is loaded.
 * @throws ConfigurationError with a line for each mistake, and PortUnavailable
 */
export async function prepare(settings: Settings, lifetime: Lifetime): Promise<Prepared> {
  if (settings.workerVersion !== undefined) {
    throw new ConfigurationError([
      'WORKER_DEPLOYMENT: expected none with `up`, which runs one build; it is for `worker`',
    ]);
  }
  const home = openHome(settings.home);
  lifetime.onStop('GALLEY_HOME', await home.lock());
  const config = await checkConfiguration(settings);
  const deployments = planDeployments(config, settings, home);
  await checkPorts(settings, deployments);
  return { home, deployments, platformMail: settings.platformMail ?? config.smtp };
}

/**
 * Checks that the requested ports are free.
 * @throws PortUnavailable naming the variable of the first that isn't.
 */
export async function checkPorts(settings: Settings, deployments: readonly PlannedDeployment[]): Promise<void> {
  const { host, port, platformPort, adminApiUrl, temporalPort, temporalUiPort, temporalConfigured } = settings;
  const ports = [
    { host, port, variable: 'PORT' },
    ...(adminApiUrl === undefined ? [{ host, port: platformPort, variable: 'PLATFORM_PORT' }] : []),
    ...deployments.map((deployment) => ({ ...deployment, variable: 'DEPLOYMENT_PORT' })),
    ...(temporalConfigured
      ? []
      : [
          { host: '127.0.0.1', port: temporalPort, variable: 'TEMPORAL_PORT' },
          { host: '127.0.0.1', port: temporalUiPort, variable: 'TEMPORAL_UI_PORT' },
        ]),
  ];
  for (const each of ports) if (each.port !== 0) await freePort(each);
}

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
