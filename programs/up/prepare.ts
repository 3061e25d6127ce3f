import { ConfigurationError } from '../../contract/configuration-error.ts';
import { checkConfiguration } from '../config/check-configuration.ts';
import { type Home, openHome } from '../process/home.ts';
import type { Lifetime } from '../process/lifetime.ts';
import type { Settings } from '../settings/environment.ts';
import { checkPorts } from './check-ports.ts';
import { type PlannedDeployment, planDeployments } from './plan-deployments.ts';

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
