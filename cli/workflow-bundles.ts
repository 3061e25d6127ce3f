import { existsSync } from 'node:fs';
import { extname, join } from 'node:path';
import { packageRoot } from './package-root.ts';

/**
 * Where scripts/bundle-workflows.js put a workflow bundle: beside the build, or, run from the source as the tests do, in
 * `.cache`.
 */
export function workflowBundle(name: 'orchestrator' | 'platform'): { codePath: string } {
  const folder = extname(import.meta.url) === '.ts' ? '.cache' : 'dist';
  const codePath = join(packageRoot(), folder, 'workflow-bundles', `${name}.js`);
  if (!existsSync(codePath)) throw new Error(`${codePath} is missing: run npm run build`);
  return { codePath };
}
