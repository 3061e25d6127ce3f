import { createDirectoryTarget } from '../../../../activities/deployments/targets/directory.ts';
import { startHttpSite } from '../../../helpers/http-site.ts';
import { deploymentWrite } from '../deployment-write.ts';

/** Deploys a bundle to a folder, as the version of this number. */
export async function deployToFolder(root: string, bundle: Buffer, sequence: number): Promise<void> {
  const server = await startHttpSite((_, response) => response.end(bundle));
  try {
    await createDirectoryTarget(root).write(
      deploymentWrite({ sequence, bundleUrl: `${server.origin}/bundle.tar.gz` }),
      { site: 'docs', signal: new AbortController().signal },
    );
  } finally {
    await server.close();
  }
}
