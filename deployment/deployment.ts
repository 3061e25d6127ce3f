import { mkdir } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { DEPLOYMENT_LIMITS } from '../bundle/manifest.ts';
import { ConfigurationError } from '../contract/configuration-error.ts';
import { createEndpoints } from './endpoints.ts';
import { BundleAcquirer } from './fetch/acquire-bundle.ts';
import { fetchProcess } from './fetch/fetch-process.ts';
import { Follower } from './fetch/follower.ts';
import { RETRY_PAUSES, type RetryPauses } from './fetch/retry-delay.ts';
import { openServed, type Served, stateFileIn, versionsIn } from './fetch/served.ts';
import { openVersionStore } from './fetch/version-store.ts';
import { createLiveSettings, type LiveSettings } from './live-settings.ts';
import { createDeploymentMetrics, type DeploymentMetrics } from './metrics.ts';
import { createAccessLog } from './serve/access-log.ts';
import { createBasicAuth } from './serve/basic-auth.ts';
import { createFileCache, type FileCache } from './serve/file-cache.ts';
import { createServeHandler } from './serve/serve.ts';
import { type DeploymentStatus, describeStatus } from './status.ts';
import { describeCapabilities } from './values/capabilities.ts';
import { type ValuesState, type ValuesWatch, watchValues } from './values/watch-values.ts';

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
  /** Where the site begins: empty, or a path such as `/docs`, without a slash at its end. */
  basePath?: string;
  /** Visitors must sign in; endpoints below `/-/` stay open for probes. */
  basicAuth?: { user: string; password: string } | undefined;
  /** Log every response. */
  accessLog?: boolean;
  /** How long files of the last version stay available after a swap, in milliseconds. */
  keepFilesMs?: number;
  /** Shared by the deployments of a process; by default each has its own. */
  shared?: SharedParts;
  /** The label in metrics: the host name that this deployment serves. */
  host?: string;
};

type SharedParts = { cache: FileCache; metrics: DeploymentMetrics };

/** Contents of files in memory, of all deployments of a process. */
const CACHE_BYTES = 64 * 1024 ** 2;

export function createSharedParts(): SharedParts {
  const cache = createFileCache(CACHE_BYTES);
  return { cache, metrics: createDeploymentMetrics(cache) };
}

export type Deployment = {
  /** Responds with 503 while there is nothing to serve, and until `start` has opened what there is. */
  app: RequestListener;
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

const HOUR_MS = 3_600_000;

/** The self-hosted server of one bundle. */
export function createDeployment(options: DeploymentOptions): Deployment {
  const { valuesFile, homeDir, logger, pollIntervalMs = 2_000, keepPrevious = 2, exitOnInvalidValues = true } = options;
  const limits = {
    maxBundleBytes: options.maxBundleBytes ?? DEPLOYMENT_LIMITS.maxBundleBytes,
    maxUnpackedBytes: options.maxUnpackedBytes ?? DEPLOYMENT_LIMITS.maxUnpackedBytes,
    maxFiles: options.maxFiles ?? DEPLOYMENT_LIMITS.maxFiles,
  };
  let served: Served | undefined;
  let follower: Follower | undefined;
  let watch: ValuesWatch | undefined;
  const settings = createLiveSettings(options.basicAuth !== undefined);

  const status = (): DeploymentStatus =>
    describeStatus(served, follower?.report(), watch?.current(), settings.current().kind);
  const { app, countSwap } = createApp(options, { served: () => served, status, settings });

  return {
    app,
    status,

    async start() {
      await mkdir(homeDir, { recursive: true });
      const store = await openVersionStore(versionsIn(homeDir));
      const now = (): Date => new Date();
      const opened = await openServed({ stateFile: stateFileIn(homeDir), store, keepPrevious, now, logger });
      const downloadsFolder = join(homeDir, 'downloads');
      const acquirer = new BundleAcquirer({ store, fetcher: fetchProcess, downloadsFolder, limits, logger });
      const following = new Follower({
        served: opened,
        acquire: (request) => acquirer.acquire(request),
        pauses: options.retryPauses ?? RETRY_PAUSES,
        supersedeGraceMs: options.supersedeGraceMs ?? 60_000,
        now,
        random: Math.random,
        onSwap: countSwap,
        logger,
      });
      const follow = (values: ValuesState): void => {
        settings.apply(values);
        following.follow(values);
      };
      const watching = await watchValues(valuesFile, pollIntervalMs, logger, follow);
      const values = watching.current();
      const mayExit = exitOnInvalidValues && opened.site() === undefined;
      if (mayExit && values.kind === 'unreadable' && values.error.key !== null) {
        watching.stop();
        throw new ConfigurationError([values.error.message]);
      }
      [served, follower, watch] = [opened, following, watching];
      follow(values);
    },

    async stop() {
      watch?.stop();
      await follower?.stop();
    },
  };
}

type AppDeps = { served(): Served | undefined; status(): DeploymentStatus; settings: LiveSettings };

function createApp(
  options: DeploymentOptions,
  { served, status, settings }: AppDeps,
): { app: RequestListener; countSwap(): void } {
  const { logger, host = '*', basePath = '', basicAuth, keepFilesMs = HOUR_MS } = options;
  const { cache, metrics } = options.shared ?? createSharedParts();
  const counts = metrics.add(host, status);
  const capabilities = () => describeCapabilities(settings.current());
  const app = createServeHandler({
    basePath,
    isOff: () => served()?.state().enabled === false,
    site: () => served()?.site(),
    previous: () => served()?.previous() ?? [],
    swappedRecently: () => Date.now() - Date.parse(served()?.state().current?.since ?? '') < keepFilesMs,
    policy: settings.policy,
    representations: settings.representations,
    cache,
    endpoints: createEndpoints({ status, capabilities, metrics }),
    basicAuth: basicAuth === undefined ? undefined : createBasicAuth(basicAuth),
    countResponse: counts.countResponse,
    accessLog: options.accessLog === true ? createAccessLog(logger) : undefined,
    logger,
  });
  return { app, countSwap: counts.countSwap };
}
