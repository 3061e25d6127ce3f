import { join } from 'node:path';
import { bundleWorkflows } from '../scripts/bundle-workflows.js';

/** Workflows that only tests use. */
const TEST_WORKFLOWS = { mail: 'test/activities/reviewers/mail-workflows', restless: 'test/api/restless-workflows' };

/** Bundles that no test runs from source. Each takes a second. */
const SKIPPED = ['orchestrator-encrypted-traced', 'platform-traced', 'platform-encrypted-traced'];

/**
 * Runs once before the tests. Installs the Temporal dev server if the user's cache has none, and bundles the workflow
 * code into `.cache/workflow-bundles` (helpers/workflow-bundles.ts), so that no test file has to.
 */
export default async function setupFast() {
  // A static import fails here: jest loads this file with `require`, which cannot read TypeScript.
  const { locateDevServer } = await import('../embedded/temporal/locate-dev-server.ts');
  await locateDevServer();
  const root = process.cwd();
  const outDir = join(root, '.cache', 'workflow-bundles');
  await bundleWorkflows({ sourceRoot: root, extension: 'ts', outDir, more: TEST_WORKFLOWS, skip: SKIPPED });
}
