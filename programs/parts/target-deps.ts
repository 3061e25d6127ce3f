import { dirname, join, resolve } from 'node:path';
import type { Logger } from 'pino';
import type { TargetDeps } from '../../activities/deployments/create-target.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import { FOR_GIT, pick } from '../settings/child-environment.ts';
import type { Settings } from '../settings/environment.ts';
import { forgeOpenerOf } from './forges.ts';

/** Helm finds the cluster and its plugins by these. */
const FOR_HELM = [...FOR_GIT, 'HOME', 'KUBECONFIG', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME'];

type Options = Pick<Settings, 'variables' | 'configPath' | 'bundleSigner' | 'home'> & { config: GalleyConfig };

/** What targets of deployments get of the process's environment and of galley.yaml. */
export function targetDeps({ config, variables, configPath, bundleSigner, home }: Options, logger: Logger): TargetDeps {
  return {
    gitEnvironment: pick(variables, FOR_GIT),
    openForge: forgeOpenerOf(config.forge, logger),
    helmEnvironment: pick(variables, FOR_HELM),
    signer: bundleSigner,
    stagingFolder: join(home, 'staging'),
    createUnder: configPath === undefined ? undefined : dirname(resolve(configPath)),
  };
}
