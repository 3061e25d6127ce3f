import { join } from 'node:path';

/** The workflow bundles that global-setup.js made, as a worker's `workflowBundle` option takes them. */
export const workflowBundles = {
  orchestrator: { codePath: join(process.cwd(), '.cache', 'workflow-bundles', 'orchestrator.js') },
  platform: { codePath: join(process.cwd(), '.cache', 'workflow-bundles', 'platform.js') },
} as const;
