/**
 * The version that a worker tells Temporal's Worker Versioning, as the operator names it (`WORKER_DEPLOYMENT` and
 * `WORKER_BUILD_ID`). One release's workers, of the orchestrator and of the platform, have the same one.
 */
export type WorkerVersion = { deploymentName: string; buildId: string };

/**
 * Worker options for a versioned worker: it gets work only while Temporal has its version as the current or ramping one.
 * All workflow types upgrade by themselves, because they live for weeks: `patched` guards what changes in them.
 */
export function versioned(version: WorkerVersion) {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' } as const;
}
