import type { TargetSettings } from '../../contract/deployment-config.ts';
import type { DeploymentTarget } from './deployment-target.ts';
import { createDirectoryTarget } from './targets/directory.ts';
import { createHttpTarget } from './targets/http.ts';
import { createValuesFileTarget } from './values-file.ts';

/** The target of an entry of `deployments`. Opens nothing yet. */
export function createTarget(name: string, settings: TargetSettings): DeploymentTarget {
  switch (settings.kind) {
    case 'valuesFile':
      return createValuesFileTarget(settings.path);
    case 'http':
      return createHttpTarget(name, settings.http);
    case 'directory':
      return createDirectoryTarget(settings.path);
    case 'git':
    case 'helm':
    case 's3':
    case 'airgap':
      throw new Error(`${settings.kind} is not supported yet`);
  }
}
