// Bundles workflow code once, so that neither workers nor tests bundle it at startup.
//   node scripts/bundle-workflows.js FOLDER   after tsc: FOLDER/**/workflows/index.js → FOLDER/workflow-bundles/
import { mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Name and entry file of each bundle, without the file's extension. */
const BUNDLES = { orchestrator: 'workflows/index', platform: 'platform/workflows/index' };

/** Loaded once for all workflows of a worker. */
const PRELOADED = 'workflows/preloaded';

/** Added to the bundles of workers that record traces. */
const TRACES = 'workflows/tracing/interceptors';

/**
 * Writes `<outDir>/orchestrator.js` and `<outDir>/platform.js`, each also as `…-encrypted.js`, whose failures can be
 * encrypted. Each of these also gets a `…-traced.js` for workers that record traces. `more` names further bundles.
 * @param {{ sourceRoot: string, extension: 'ts' | 'js', outDir: string, more?: Record<string, string>, skip?: string[] }} options
 *   `skip`: bundles that the caller doesn't need
 * @returns the names of the written bundles
 */
export async function bundleWorkflows({ sourceRoot, extension, outDir, more = {}, skip = [] }) {
  await mkdir(outDir, { recursive: true });
  const failureConverterPath = join(root, 'programs', 'temporal', 'encrypted-failures.cjs');
  const traces = { workflowInterceptorModules: [join(sourceRoot, `${TRACES}.${extension}`)] };
  const variants = Object.entries(BUNDLES).flatMap(([name, file]) => [
    { name, file, options: {} },
    { name: `${name}-encrypted`, file, options: { failureConverterPath } },
    { name: `${name}-traced`, file, options: traces },
    { name: `${name}-encrypted-traced`, file, options: { failureConverterPath, ...traces } },
  ]);
  const others = Object.entries(more).map(([name, file]) => ({ name, file, options: {} }));
  const selected = [...variants, ...others].filter(({ name }) => !skip.includes(name));
  if (selected.length === 0) return [];
  // Loaded only now: a test run that has its bundles saves most of a second.
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  for (const { name, file, options } of selected) {
    const workflowsPath = join(sourceRoot, `${file}.${extension}`);
    await stat(workflowsPath);
    const preloadModules = [join(sourceRoot, `${PRELOADED}.${extension}`)];
    const bundling = { workflowsPath, preloadModules, ...options, logger: new DefaultLogger('WARN') };
    const { code } = await bundleWorkflowCode(bundling);
    // Rename at the end: another test run may be reading the previous bundle.
    const part = join(outDir, `${name}.js.${process.pid}`);
    await writeFile(part, code);
    await rename(part, join(outDir, `${name}.js`));
  }
  return selected.map(({ name }) => name);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const sourceRoot = resolve(process.argv[2] ?? 'dist');
  await bundleWorkflows({ sourceRoot, extension: 'js', outDir: join(sourceRoot, 'workflow-bundles') });
}
