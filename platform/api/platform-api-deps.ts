import type { Logger } from 'pino';
import type { ObjectStore } from '../objects/object-store.ts';
import type { AgentRunKey } from '../store/agent-runs.ts';
import type { Database } from '../store/database.ts';

export type PlatformApiDeps = {
  /** May be unreachable, or not migrated yet: requests are then answered 503. */
  db: Database;
  objects: ObjectStore;
  /** Starts a job's workflow. Tried once after each start; the reconciler sees to what fails here. */
  startExport(jobId: string): Promise<void>;
  /** Cancels a job's workflow, if it has one. Tried once; the reconciler sees to what fails here. */
  cancelExport(jobId: string): Promise<void>;
  /** Starts a run's workflow. Tried once after each accepted prompt; the reconciler sees to what fails here. */
  startAgentJob(key: AgentRunKey): Promise<void>;
  /** Cancels a run's workflow, if it has one. Tried once; the reconciler sees to what fails here. */
  cancelAgentJob(key: AgentRunKey): Promise<void>;
  /** What new agent jobs report as `model`. */
  agentModel: string;
  /** What links and the OpenAPI document name; a function where the port is known only once it listens. */
  publicUrl: string | (() => string);
  bundleLinkTtlMs: number;
  /** Opens the admin routes, and merging at the embedded forge; without it there are none. */
  operatorToken?: string;
  /** The embedded forge has put webhooks into its outbox. */
  onForgeEvent?: () => void;
  logger: Logger;
  /** The clock of versions, limits and idempotency, in epoch milliseconds. */
  now?: () => number;
};

/** The deps with their defaults in place, as handlers take them. */
export type ApiContext = {
  db: Database;
  objects: ObjectStore;
  startExport(jobId: string): Promise<void>;
  cancelExport(jobId: string): Promise<void>;
  startAgentJob(key: AgentRunKey): Promise<void>;
  cancelAgentJob(key: AgentRunKey): Promise<void>;
  agentModel: string;
  publicUrl(): string;
  bundleLinkTtlMs: number;
  operatorToken?: string;
  onForgeEvent?: () => void;
  logger: Logger;
  now(): Date;
};
