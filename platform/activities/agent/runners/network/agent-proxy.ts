import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { makeTemporaryFolder } from '../../../../../base/temporary-folder.ts';
import { startFilteringProxy } from '../../../../../exporter/render/filtering-proxy.ts';
import type { AgentNetwork } from '../runner-limits.ts';
import { createAllowList } from './allow-list.ts';

type AgentProxy = {
  /** A Unix socket that only this user can reach. */
  socketPath: string;
  close(): Promise<void>;
};

/** Connections of one run at a time. Each takes two of the worker's file descriptors. */
const MAX_CONNECTIONS = 128;

/** Logged refusals of one run, because an agent can invent any number of hosts. */
const MAX_LOGGED = 50;

/**
 * Starts the forward proxy of one run, for HTTP and CONNECT tunnels. It is the run's only network access. Refused
 * requests get 403 with the reason. Each reason is logged once: it names a host and a port, never a path, a header or a
 * body.
 */
export async function startAgentProxy(run: {
  network: AgentNetwork;
  jobId: string;
  logger: Logger;
}): Promise<AgentProxy> {
  const { network, jobId, logger } = run;
  // Not in the run's own folder, because a socket's path holds at most 107 bytes.
  const folder = await makeTemporaryFolder('proxy');
  const logged = new Set<string>();
  const onRefused = (_target: string, reason: string): void => {
    if (logged.has(reason) || logged.size >= MAX_LOGGED) return;
    logged.add(reason);
    logger.warn({ jobId, reason }, "An agent's request was refused");
  };
  try {
    const proxy = await startFilteringProxy({
      guard: createAllowList(network),
      isAdmitted: () => true,
      onRefused,
      explainRefusals: true,
      socketPath: join(folder, 'proxy'),
      maxConnections: MAX_CONNECTIONS,
      maxBytes: Number.POSITIVE_INFINITY,
      // A model may think for minutes before it responds. The run's own time limit ends everything.
      silenceMs: 0,
    });
    const close = async (): Promise<void> => {
      await proxy.close();
      await rm(folder, { recursive: true, force: true });
    };
    return { socketPath: proxy.address, close };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}
