// Bundles workflow code once, so that neither a worker's start nor a test pays for it.
//   node scripts/bundle-workflows.js          after tsc: dist/**/workflows/index.js → dist/workflow-bundles/
import { mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Name of each bundle and the file that it is made from, without its extension. */
const BUNDLES = { orchestrator: 'workflows/index', platform: 'platform/workflows/index' };

/** Added to the bundles of workers with traces. */
const TRACES = 'workflows/tracing/interceptors';

/**
 * Writes `<outDir>/orchestrator.js` and `<outDir>/platform.js`, the same as `…-encrypted.js` with failures that can be
 * encrypted, both of these as `…-traced.js` for workers with traces, and what `more` names.
 * @param {{ sourceRoot: string, extension: 'ts' | 'js', outDir: string, more?: Record<string, string>, skip?: string[] }} options
 *   `skip`: bundles that the caller doesn't need
 */
export async function bundleWorkflows({ sourceRoot, extension, outDir, more = {}, skip = [] }) {
  await mkdir(outDir, { recursive: true });
  const failureConverterPath = join(root, 'cli', 'encrypted-failures.cjs');
  const traces = { workflowInterceptorModules: [join(sourceRoot, `${TRACES}.${extension}`)] };
  const variants = Object.entries(BUNDLES).flatMap(([name, file]) => [
    { name, file, options: {} },
    { name: `${name}-encrypted`, file, options: { failureConverterPath } },
    { name: `${name}-traced`, file, options: traces },
    { name: `${name}-encrypted-traced`, file, options: { failureConverterPath, ...traces } },
  ]);
  const others = Object.entries(more).map(([name, file]) => ({ name, file, options: {} }));
  const wanted = [...variants, ...others].filter(({ name }) => !skip.includes(name));
  for (const { name, file, options } of wanted) {
    const workflowsPath = join(sourceRoot, `${file}.${extension}`);
    await stat(workflowsPath);
    const { code } = await bundleWorkflowCode({ workflowsPath, ...options, logger: new DefaultLogger('WARN') });
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
