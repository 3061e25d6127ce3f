import { existsSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { DataConverter } from '@temporalio/common';
import { packageRoot } from '../process/package.ts';
import { tracing } from '../tracing/tracing.ts';

/**
 * The bundle of scripts/bundle-workflows.js: beside the build, or in `.cache` if run from source, as tests do. With a
 * data converter that encrypts failures, the bundle whose workflows do so too. If traces are on, the one that has them.
 */
export function workflowBundle(name: 'orchestrator' | 'platform', converter: DataConverter): { codePath: string } {
  const folder = extname(import.meta.url) === '.ts' ? '.cache' : 'dist';
  const encrypted = converter.failureConverterPath === undefined ? '' : '-encrypted';
  const file = `${name}${encrypted}${tracing() === undefined ? '' : '-traced'}`;
  const codePath = join(packageRoot(), folder, 'workflow-bundles', `${file}.js`);
  if (!existsSync(codePath)) throw new Error(`${codePath} is missing: run npm run build`);
  return { codePath };
}
