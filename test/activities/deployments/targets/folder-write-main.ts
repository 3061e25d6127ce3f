// A process that writes one version to a folder, and that a test kills. Takes its options as a JSON argument.
import type { DeploymentWrite } from '../../../../activities/deployments/deployment-target.ts';
import { createDirectoryTarget } from '../../../../activities/deployments/targets/directory.ts';

export type FolderWriteOptions = { root: string; write: DeploymentWrite };

const { root, write }: FolderWriteOptions = JSON.parse(process.argv[2] ?? '');
console.log('ready');
await createDirectoryTarget(root).write(write, { site: write.site, signal: new AbortController().signal });
