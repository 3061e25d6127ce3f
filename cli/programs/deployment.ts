import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { createDeployment } from '../../deployment/deployment.ts';
import type { Home } from '../home.ts';
import type { Lifetime } from '../lifetime.ts';
import { serve } from '../serve.ts';

interface Options {
  /** Absolute. */
  valuesFile: string;
  host: string;
  port: number;
  /** Whether it rejects if the values file is invalid and there is nothing to serve. Default: true. */
  exitOnInvalidValues?: boolean;
}

interface Context {
  home: Home;
  logger: Logger;
  lifetime: Lifetime;
}

/**
 * Serves one values file's bundle until the lifetime ends.
 * @throws ConfigurationError if the values file is invalid and `exitOnInvalidValues` isn't false.
 */
export async function startDeployment(options: Options, { home, logger, lifetime }: Context): Promise<{ url: string }> {
  const deployment = createDeployment({
    valuesFile: options.valuesFile,
    exitOnInvalidValues: options.exitOnInvalidValues ?? true,
    homeDir: home.path('deployments', folderName(options.valuesFile)),
    logger: logger.child({ part: 'deployment' }),
  });
  const service = await serve(deployment.app, { host: options.host, port: options.port, variable: 'DEPLOYMENT_PORT' });
  lifetime.onStop('deployment server', () => service.stop());
  lifetime.onStop('deployment', () => deployment.stop());
  await deployment.start();
  return { url: service.url };
}

/** Deployments on one machine must not share their versions, so each values file has its own folder. */
function folderName(valuesFile: string): string {
  return createHash('sha256').update(valuesFile).digest('hex').slice(0, 16);
}
