import type { DeploymentWrite } from '../../../activities/deployments/deployment-target.ts';

export const EXPIRES_AT = '2026-11-25T08:00:00Z';
export const LIFETIME_MS = 86_400_000;

/** The first deploy of the site "docs"; the job and the version have the number of the sequence. */
export function deploymentWrite(changes: Partial<DeploymentWrite> = {}): DeploymentWrite {
  const { sequence = 1 } = changes;
  return {
    ...{ site: 'docs', epoch: 1, sequence, kind: 'deploy', jobId: `se_${sequence}`, version: `v${sequence}` },
    ...{ newest: true, bundleUrl: `https://objects.test/${sequence}`, expiresAt: EXPIRES_AT, lifetimeMs: LIFETIME_MS },
    ...changes,
  };
}
