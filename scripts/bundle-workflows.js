// Bundles workflow code once, so that neither a worker's start nor a test pays for it.
//   node scripts/bundle-workflows.js          after tsc: dist/**/workflows/index.js → dist/workflow-bundles/
import { mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Name of each bundle and the file that it is made from, without its extension. */
const BUNDLES = { orchestrator: 'workflows/index', platform: 'platform/workflows/index' };

/**
 * Writes `<outDir>/orchestrator.js` and `<outDir>/platform.js`, and what `more` names in the same way.
 * @param {{ sourceRoot: string, extension: 'ts' | 'js', outDir: string, more?: Record<string, string> }} options
 */
export async function bundleWorkflows({ sourceRoot, extension, outDir, more = {} }) {
  await mkdir(outDir, { recursive: true });
  for (const [name, file] of Object.entries({ ...BUNDLES, ...more })) {
    const workflowsPath = join(sourceRoot, `${file}.${extension}`);
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
