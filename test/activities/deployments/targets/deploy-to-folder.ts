import { readFileSync } from 'node:fs';
import type { DeploymentTarget } from '../../../../activities/deployments/deployment-target.ts';
import { createDirectoryTarget } from '../../../../activities/deployments/targets/directory.ts';
import { startHttpSite } from '../../../helpers/http-site.ts';
import { deploymentWrite } from '../deployment-write.ts';

/** Deploys a bundle to a folder, as the version of this number. */
export async function deployToFolder(root: string, bundle: Buffer, sequence: number): Promise<void> {
  await deployTo(createDirectoryTarget(root), bundle, sequence);
}

/** Deploys a bundle, as the version of this number. */
export async function deployTo(target: DeploymentTarget, bundle: Buffer, sequence: number): Promise<void> {
  const server = await startHttpSite((_, response) => response.end(bundle));
  try {
    const write = deploymentWrite({ sequence, bundleUrl: `${server.origin}/bundle.tar.gz` });
    await target.write(write, { site: 'docs', signal: new AbortController().signal });
  } finally {
    await server.close();
  }
}

/** The guide's configuration of nginx, on another port and folder. */
export function documentedServer(root: string, port: number): string {
  const guide = readFileSync('docs/guide/deployment-targets.md', 'utf8');
  const [, block = ''] = /```nginx\n([\s\S]*?)```/.exec(guide) ?? [];
  const ours = block.replaceAll('/srv/www/docs', root).replace(/listen .*;/, `listen 127.0.0.1:${port};`);
  expect(ours).toContain(`127.0.0.1:${port}`);
  return ours;
}
