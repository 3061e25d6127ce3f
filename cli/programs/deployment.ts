import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { createDeployment } from '../../deployment/deployment.ts';
import type { Home } from '../home.ts';
import type { Lifetime } from '../lifetime.ts';
import { serve } from '../serve.ts';

interface Wanted {
  /** Absolute. */
  valuesFile: string;
  host: string;
  port: number;
  /** Whether it rejects if the values file is invalid and there is nothing to serve. Default: true. */
  exitOnInvalidValues?: boolean;
}

interface Surroundings {
  home: Home;
  logger: Logger;
  lifetime: Lifetime;
}

/**
 * Serves one values file's bundle until the lifetime ends.
 * @throws ConfigurationError if the values file is invalid and `exitOnInvalidValues` isn't false.
 */
export async function startDeployment(
  wanted: Wanted,
  { home, logger, lifetime }: Surroundings,
): Promise<{ url: string }> {
  const deployment = createDeployment({
    valuesFile: wanted.valuesFile,
    exitOnInvalidValues: wanted.exitOnInvalidValues ?? true,
    homeDir: home.path('deployments', folderName(wanted.valuesFile)),
    logger: logger.child({ part: 'deployment' }),
  });
  const service = await serve(deployment.app, { host: wanted.host, port: wanted.port, variable: 'DEPLOYMENT_PORT' });
  lifetime.onStop('deployment server', () => service.stop());
  lifetime.onStop('deployment', () => deployment.stop());
  await deployment.start();
  return { url: service.url };
}

/** Deployments on one machine must not share their versions, so each values file has its own folder. */
function folderName(valuesFile: string): string {
  return createHash('sha256').update(valuesFile).digest('hex').slice(0, 16);
}
