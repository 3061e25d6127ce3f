import { startProcess, type WorkerProcess } from './platform-worker-process.ts';

/** The place where a worker blocks forever, so that a test can kill it there. */
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
  /** The worker creates this file when it blocks. */
  heldFile: string;
};

export function startAgentWorkerProcess(options: AgentWorkerOptions): Promise<WorkerProcess> {
  return startProcess('test/helpers/agent-worker-main.ts', options);
}
