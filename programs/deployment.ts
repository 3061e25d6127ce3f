import type { Logger } from 'pino';
import { createDeployment, createSharedParts } from '../deployment/deployment.ts';
import { createHostHandler } from '../deployment/hosts.ts';
import { freePort } from '../embedded/ports.ts';
import { deploymentFolder, type Home } from './process/home.ts';
import type { Lifetime } from './process/lifetime.ts';
import { serve } from './process/serve.ts';
import type { ServingSettings } from './settings/serving.ts';

export interface DeployedSite {
  /** The host name that the site is served under; undefined: all others. */
  host?: string | undefined;
  /** Absolute. */
  valuesFile: string;
}

interface Options {
  /** One site, or several with different host names and values files. */
  sites: readonly DeployedSite[];
  serving: ServingSettings;
  host: string;
  port: number;
  /** Whether it rejects if a values file is invalid and there is nothing to serve. Default: true. */
  exitOnInvalidValues?: boolean;
}

interface Context {
  home: Home;
  logger: Logger;
  lifetime: Lifetime;
}

/**
 * Serves the bundles of values files from one server until the lifetime ends.
 * @throws ConfigurationError if a values file is invalid and `exitOnInvalidValues` isn't false.
 */
export async function startDeployment(options: Options, { home, logger, lifetime }: Context): Promise<{ url: string }> {
  const shared = createSharedParts();
  const open = async ({ host, valuesFile }: DeployedSite) => ({
    host,
    deployment: createDeployment({
      ...options.serving,
      valuesFile,
      shared,
      host: host ?? '*',
      exitOnInvalidValues: options.exitOnInvalidValues ?? true,
      homeDir: await home.makeFolder(...deploymentFolder(valuesFile)),
      logger: logger.child({ part: 'deployment', ...(host === undefined ? {} : { host }) }),
    }),
  });
  const hosted = await Promise.all(options.sites.map(open));
  const listening = { host: options.host, port: options.port, variable: 'DEPLOYMENT_PORT' };
  // Another process on this port may be using the same folders, which must stay as they are then.
  if (listening.port !== 0) await freePort(listening);
  for (const { deployment } of hosted) lifetime.onStop('deployment', () => deployment.stop());
  // Before it listens: a visitor must not be told that there is nothing yet.
  const starts = await Promise.allSettled(hosted.map(({ deployment }) => deployment.start()));
  for (const start of starts) if (start.status === 'rejected') throw start.reason;
  lifetime.signal.throwIfAborted();
  const app = createHostHandler(hosted, shared.metrics);
  const service = await serve(app, listening);
  lifetime.onStop('deployment server', () => service.stop());
  return { url: service.url };
}
