import { startProcess, type WorkerProcess } from './platform-worker-process.ts';

/** Where a worker stops for ever, as seen from outside: to be killed there. */
export type HoldAt = 'agent-done' | 'before-pushing' | 'before-opening' | 'after-opening' | 'at-the-end' | null;

export type AgentWorkerOptions = {
  databaseUrl: string;
  maxConnections: number;
  objectStoreUrl: string;
  temporalAddress: string;
  temporalNamespace: string;
  workDir: string;
  identity: string;
  holdAt: HoldAt;
  /** Written when it holds. */
  heldFile: string;
};

export function startAgentWorkerProcess(options: AgentWorkerOptions): Promise<WorkerProcess> {
  return startProcess('test/helpers/agent-worker-main.ts', options);
}
