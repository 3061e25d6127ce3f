import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TargetConfig } from '../../contract/deployment-config.ts';
import { type S3Target, s3Target } from '../../contract/target-kind.ts';
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
    /** For files on their way to buckets. */
    stagingFolder?: string;
    /** How often pins in repositories and releases are read, in milliseconds. */
    remotePinsEveryMs?: number;
    /** How often open pull requests are read, in milliseconds. */
    proposalsEveryMs?: number;
  };

/** The target of an entry of `deployments`. Opens nothing yet. */
export function createTarget(name: string, { kind, settings }: TargetConfig, deps: TargetDeps = {}): DeploymentTarget {
  switch (kind) {
    case 'valuesFile':
      return createValuesFileTarget(settings, deps);
    case 'http':
      return createHttpTarget(name, settings);
    case 'directory':
      return createDirectoryTarget(settings, deps);
    case 'git':
      return createGitTarget(settings, deps);
    case 'helm':
      return createHelmTarget(settings, deps);
    case 's3':
      return createLazyS3Target(s3Target(settings), deps);
    case 'airgap':
      return createAirgapTarget(settings, deps);
  }
}

/** AWS's SDK has many modules, which a worker without such a target never loads. */
function createLazyS3Target(settings: S3Target, deps: TargetDeps): DeploymentTarget {
  const { stagingFolder = join(tmpdir(), 'galley-staging') } = deps;
  const load = async () => (await import('./targets/s3.ts')).createS3Target(settings, stagingFolder);
  return {
    write: async (...args) => await (await load()).write(...args),
    check: async (...args) => await (await load()).check(...args),
  };
}
