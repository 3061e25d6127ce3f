import { join } from 'node:path';
import { bundleWorkflows } from '../../scripts/bundle-workflows.js';

/** Bundles the workflow code once a run; tests take it from `.cache/workflow-bundles` (see workflow-bundles.ts). */
export default async function globalSetup() {
  const root = process.cwd();
  await bundleWorkflows({ sourceRoot: root, extension: 'ts', outDir: join(root, '.cache', 'workflow-bundles') });
}
