import { join } from 'node:path';

/** The workflow bundles that global-setup.js builds, for a worker's `workflowBundle` option. */
export const workflowBundles = {
  orchestrator: bundle('orchestrator'),
  platform: bundle('platform'),
  /** The orchestrator's bundle for a worker that records traces. */
  traced: bundle('orchestrator-traced'),
  /** Workflows of the tests: one sends a mail, one asks a deployment, one never ends. */
  mail: bundle('mail'),
  ask: bundle('ask'),
  restless: bundle('restless'),
} as const;

function bundle(name: string): { codePath: string } {
  return { codePath: join(process.cwd(), '.cache', 'workflow-bundles', `${name}.js`) };
}
