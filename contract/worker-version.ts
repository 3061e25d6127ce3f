/**
 * A worker's version for Temporal's Worker Versioning, set by the operator (`WORKER_DEPLOYMENT` and `WORKER_BUILD_ID`).
 * All workers of one release, orchestrator and platform, have the same one.
 */
export type WorkerVersion = { deploymentName: string; buildId: string };

/**
 * Worker options for a versioned worker: it gets work only while Temporal has its version as the current or ramping
 * one. All workflow types auto-upgrade, because they run for weeks: `patched` guards their changes.
 */
export function versioned(version: WorkerVersion) {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' } as const;
}
