import { join } from 'node:path';
import { bundleWorkflows } from '../../scripts/bundle-workflows.js';

/** Workflows that tests have for themselves. To bundle them in a suite takes it several times as long. */
const TEST_WORKFLOWS = { mail: 'test/activities/reviewers/mail-workflows', restless: 'test/api/restless-workflows' };

/**
 * Once a run: the Temporal servers are installed into the user's cache where they are missing (each step shows its
 * progress), the workflow code is bundled into `.cache/workflow-bundles` (see workflow-bundles.ts), and databases to begin
 * with are kept beside it (see kept-databases.ts).
 */
export default async function globalSetup() {
  // Imported here because jest requires this file, and a required file's static imports can't be TypeScript.
  const { locateDevServer } = await import('../../embedded/temporal/locate-dev-server.ts');
  const { locateTimeSkippingServer } = await import('../../embedded/temporal/locate-time-skipping-server.ts');
  const { keepDatabases } = await import('./kept-databases.ts');
  await locateDevServer();
  await locateTimeSkippingServer();
  const root = process.cwd();
  const outDir = join(root, '.cache', 'workflow-bundles');
  await bundleWorkflows({ sourceRoot: root, extension: 'ts', outDir, more: TEST_WORKFLOWS });
  await keepDatabases();
}
