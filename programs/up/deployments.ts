import type { Logger } from 'pino';
import { startDeployment } from '../deployment.ts';
import type { Home } from '../process/home.ts';
import type { Lifetime } from '../process/lifetime.ts';
import type { PlannedDeployment } from './plan-deployments.ts';

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
