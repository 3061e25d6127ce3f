// Bundles workflow code once, so that neither a worker's start nor a test pays for it.
//   node scripts/bundle-workflows.js          after tsc: dist/**/workflows/index.js → dist/workflow-bundles/
import { mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Name of each bundle and the folder whose index it is made from. */
const BUNDLES = { orchestrator: 'workflows', platform: 'platform/workflows' };

/**
 * Writes `<outDir>/orchestrator.js` and `<outDir>/platform.js`.
 * @param {{ sourceRoot: string, extension: 'ts' | 'js', outDir: string }} options
 */
export async function bundleWorkflows({ sourceRoot, extension, outDir }) {
  await mkdir(outDir, { recursive: true });
  for (const [name, folder] of Object.entries(BUNDLES)) {
    const workflowsPath = join(sourceRoot, folder, `index.${extension}`);
    await stat(workflowsPath);
    const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
    // Never half a bundle: tests of another run may be reading the one before.
    const part = join(outDir, `${name}.js.${process.pid}`);
    await writeFile(part, code);
    await rename(part, join(outDir, `${name}.js`));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bundleWorkflows({
    sourceRoot: join(root, 'dist'),
    extension: 'js',
    outDir: join(root, 'dist', 'workflow-bundles'),
  });
}
