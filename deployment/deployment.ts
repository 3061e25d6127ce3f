import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { ConfigurationError } from '../contract/configuration-error.ts';
import { BundleAcquirer } from './acquire-bundle.ts';
import { Follower } from './follower.ts';
import { RETRY_PAUSES, type RetryPauses } from './retry-delay.ts';
import { createServeApp } from './serve.ts';
import { openServed, type Served } from './served.ts';
import { type DeploymentStatus, describeStatus } from './status.ts';
import { type TargetWatch, watchTarget } from './target.ts';
import { openVersionStore } from './version-store.ts';

export type DeploymentOptions = {
  valuesFile: string;
  /** Where versions and the pointer to the current one are stored. One folder per deployment. */
  homeDir: string;
  logger: Logger;
  /** How often to poll the values file besides watching it, in milliseconds. */
  pollIntervalMs?: number;
  /** The largest archive to download. */
  maxBundleBytes?: number;
  /** The largest unpacked size. */
  maxUnpackedBytes?: number;
  maxFiles?: number;
  /** How many versions besides the served one stay on the disk. */
  keepPrevious?: number;
  retryPauses?: RetryPauses;
  supersedeGraceMs?: number;
  /**
   * Whether `start` rejects if the values file is invalid and there is no version to serve. Default: true; false in a
   * process with other parts, which must not end because of one file.
   */
  exitOnInvalidValues?: boolean;
};

export type Deployment = {
  /** Responds immediately, with 503 until there is something to serve. */
  app: Express;
  /**
   * Opens the last good version, then follows the values file in the background.
   * @throws ConfigurationError if the values file is invalid and there is no version to serve meanwhile, unless
   *   `exitOnInvalidValues` is false: then only the status and the log name the key.
   */
  start(): Promise<void>;
  /** Ends downloads and watching; nothing is written afterwards. */
  stop(): Promise<void>;
  status(): DeploymentStatus;
};

const GIB = 1024 ** 3;

/** The self-hosted server of one bundle (seed, "Use of a bundle in a self-hosted deployment"). */
export function createDeployment(options: DeploymentOptions): Deployment {
  const { valuesFile, homeDir, logger, pollIntervalMs = 2_000, keepPrevious = 2, exitOnInvalidValues = true } = options;
  const limits = {
    maxBundleBytes: options.maxBundleBytes ?? 4 * GIB,
    maxUnpackedBytes: options.maxUnpackedBytes ?? 16 * GIB,
    maxFiles: options.maxFiles ?? 250_000,
  };
  let served: Served | undefined;
  let follower: Follower | undefined;
  let watch: TargetWatch | undefined;

  const isOff = (): boolean => served?.state().enabled === false;
  const status = (): DeploymentStatus => describeStatus(served, follower?.report(), watch?.current());
  const app = createServeApp({
    isOff,
    site: () => served?.site(),
    previous: () => served?.previous() ?? [],
    status,
    logger,
  });

  return {
    app,
    status,

    async start() {
      await mkdir(homeDir, { recursive: true });
      const store = await openVersionStore(join(homeDir, 'versions'));
      const now = (): Date => new Date();
      const opened = await openServed({ stateFile: join(homeDir, 'state.json'), store, keepPrevious, now, logger });
      const acquirer = new BundleAcquirer({ store, downloadsFolder: join(homeDir, 'downloads'), limits, logger });
      const following = new Follower({
        served: opened,
        acquire: (request) => acquirer.acquire(request),
        pauses: options.retryPauses ?? RETRY_PAUSES,
        supersedeGraceMs: options.supersedeGraceMs ?? 60_000,
        now,
        random: Math.random,
        logger,
      });
      const watching = await watchTarget(valuesFile, pollIntervalMs, logger, (target) => following.follow(target));
      const target = watching.current();
      const mayExit = exitOnInvalidValues && opened.site() === undefined;
      if (mayExit && target.kind === 'unreadable' && target.error.key !== null) {
        watching.stop();
        throw new ConfigurationError([target.error.message]);
      }
      [served, follower, watch] = [opened, following, watching];
      following.follow(target);
    },

    async stop() {
      watch?.stop();
      await follower?.stop();
    },
  };
}
