import type { Logger } from 'pino';
import type { ObjectStore } from '../objects/object-store.ts';
import type { Database } from '../store/database.ts';

export type PlatformApiDeps = {
  /** May be unreachable, or not migrated yet: requests are then answered 503. */
  db: Database;
  objects: ObjectStore;
  /** Starts a job's workflow. Tried once after each start; the reconciler sees to what fails here. */
  startExport(jobId: string): Promise<void>;
  /** Cancels a job's workflow, if it has one. Tried once; the reconciler sees to what fails here. */
  cancelExport(jobId: string): Promise<void>;
  /** What links and the OpenAPI document name; a function where the port is known only once it listens. */
  publicUrl: string | (() => string);
  bundleLinkTtlMs: number;
  /** Opens the admin routes; without it there are none. */
  operatorToken?: string;
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
  publicUrl(): string;
  bundleLinkTtlMs: number;
  logger: Logger;
  now(): Date;
};
