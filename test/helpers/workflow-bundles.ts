import { join } from 'node:path';

/** The workflow bundles that global-setup.js made, as a worker's `workflowBundle` option takes them. */
export const workflowBundles = {
  orchestrator: bundle('orchestrator'),
  platform: bundle('platform'),
  /** The orchestrator's, for a worker with traces. */
  traced: bundle('orchestrator-traced'),
  /** The tests' own: one that sends a mail, and one that never ends. */
  mail: bundle('mail'),
  restless: bundle('restless'),
} as const;

function bundle(name: string): { codePath: string } {
  return { codePath: join(process.cwd(), '.cache', 'workflow-bundles', `${name}.js`) };
}
