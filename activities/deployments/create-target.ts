import type { TargetSettings } from '../../contract/deployment-config.ts';
import type { FolderDeps } from './check-folder.ts';
import type { DeploymentTarget } from './deployment-target.ts';
import { type AirgapDeps, createAirgapTarget } from './targets/airgap.ts';
import { createDirectoryTarget } from './targets/directory.ts';
import { createGitTarget, type GitTargetDeps } from './targets/git.ts';
import { createHelmTarget, type HelmDeps } from './targets/helm.ts';
import { createHttpTarget } from './targets/http.ts';
import { createValuesFileTarget } from './values-file.ts';

export type TargetDeps = GitTargetDeps &
  HelmDeps &
  AirgapDeps &
  FolderDeps & {
    /** How often pins in repositories and releases are read, in milliseconds. */
    remotePinsEveryMs?: number;
  };

/** The target of an entry of `deployments`. Opens nothing yet. */
export function createTarget(name: string, settings: TargetSettings, deps: TargetDeps = {}): DeploymentTarget {
  switch (settings.kind) {
    case 'valuesFile':
      return createValuesFileTarget(settings.path, deps);
    case 'http':
      return createHttpTarget(name, settings.http);
    case 'directory':
      return createDirectoryTarget(settings.path, deps);
    case 'git':
      return createGitTarget(settings.git, deps);
    case 'helm':
      return createHelmTarget(settings.helm, deps);
    case 's3':
      return {
        // AWS's SDK has many modules, which a worker without such a target never loads.
        write: async (...write) => {
          const { createS3Target } = await import('./targets/s3.ts');
          return await createS3Target(settings.s3).write(...write);
        },
      };
    case 'airgap':
      return createAirgapTarget(settings.path, deps);
  }
}
