import { freePort } from '../../embedded/ports.ts';
import type { Settings } from '../settings/environment.ts';
import type { PlannedDeployment } from './plan-deployments.ts';

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
