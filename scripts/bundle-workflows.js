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
 * Writes `<outDir>/orchestrator.js` and `<outDir>/platform.js`, the same as `…-encrypted.js` with failures that can be
 * encrypted, and what `more` names.
 * @param {{ sourceRoot: string, extension: 'ts' | 'js', outDir: string, more?: Record<string, string> }} options
 */
export async function bundleWorkflows({ sourceRoot, extension, outDir, more = {} }) {
  await mkdir(outDir, { recursive: true });
  const failureConverterPath = join(root, 'cli', 'encrypted-failures.cjs');
  const plain = Object.entries({ ...BUNDLES, ...more }).map(([name, file]) => ({ name, file, converter: {} }));
  const encrypted = Object.entries(BUNDLES).map(([name, file]) => ({
    name: `${name}-encrypted`,
    file,
    converter: { failureConverterPath },
  }));
  for (const { name, file, converter } of [...plain, ...encrypted]) {
    const workflowsPath = join(sourceRoot, `${file}.${extension}`);
    await stat(workflowsPath);
    const { code } = await bundleWorkflowCode({ workflowsPath, ...converter, logger: new DefaultLogger('WARN') });
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
