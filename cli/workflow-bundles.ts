import { existsSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { DataConverter } from '@temporalio/common';
import { packageRoot } from './package-root.ts';

/**
 * Where scripts/bundle-workflows.js put a workflow bundle: beside the build, or, run from the source as the tests do, in
 * `.cache`. With a data converter that encrypts failures, the bundle whose workflows do so too.
 */
export function workflowBundle(name: 'orchestrator' | 'platform', converter: DataConverter): { codePath: string } {
  const folder = extname(import.meta.url) === '.ts' ? '.cache' : 'dist';
  const file = converter.failureConverterPath === undefined ? name : `${name}-encrypted`;
  const codePath = join(packageRoot(), folder, 'workflow-bundles', `${file}.js`);
  if (!existsSync(codePath)) throw new Error(`${codePath} is missing: run npm run build`);
  return { codePath };
}
