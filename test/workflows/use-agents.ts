import type { RuleSettings } from '../../contract/settings.ts';
import { type AgentFixture, startAgentFixture } from './agent-fixture.ts';
import { type AgentWorker, createAgentWorker } from './agent-worker.ts';
import { useTemporal, type WorkflowServer } from './use-temporal.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export type Agents = {
  server: () => WorkflowServer;
  /** Creates a site with an agent rule. All fixtures of a file share one worker. */
  startAgents: (settings?: Partial<RuleSettings>) => Promise<AgentFixture>;
};

export function useAgents(kind: 'dev-server' | 'time-skipping'): Agents {
  const { server, closeLater, atTheEnd } = useTemporal(kind);
  let worker: AgentWorker | undefined;
  atTheEnd(async () => await worker?.stop());
  return {
    server,
    async startAgents(settings = {}) {
      const { client, connection } = server();
      worker ??= createAgentWorker(connection, client.options.namespace);
      return closeLater(await startAgentFixture({ server: server(), worker, settings }));
    },
  };
}
