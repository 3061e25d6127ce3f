import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createDeployment, type Deployment, type DeploymentOptions } from '../../deployment/deployment.ts';
import type { DeploymentStatus } from '../../deployment/status.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const silent = pino({ level: 'silent' });

export type Running = {
  url: string;
  deployment: Deployment;
  /** Stops the deployment and its server. The folder stays, as after a killed process. */
  stop(): Promise<void>;
  status(): Promise<DeploymentStatus>;
  /** Polls the status until it is as expected. */
  until(what: string, expected: (status: DeploymentStatus) => boolean): Promise<DeploymentStatus>;
  text(path: string, init?: RequestInit): Promise<string>;
};

export type Fixture = {
  folder: string;
  valuesFile: string;
  writeValues(staticExport: Record<string, unknown>): Promise<void>;
  start(options?: Partial<DeploymentOptions>): Promise<Running>;
  /** Starts a server that is closed with the fixture, and returns its origin. */
  serve(handler: RequestListener): Promise<string>;
  close(): Promise<void>;
};

const FAST_PAUSES = { soonBaseMs: 20, soonMaxMs: 100, slowlyMs: 60_000, invalidMs: 60_000 };

/** A folder with a values file, and the deployments and servers that a test starts on it. */
export async function openFixture(): Promise<Fixture> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-deployment-'));
  const valuesFile = join(folder, 'values.yaml');
  const closers: (() => Promise<void>)[] = [];

  return {
    folder,
    valuesFile,

    async writeValues(staticExport) {
      await writeFile(`${valuesFile}.new`, JSON.stringify({ staticExport }, null, 2));
      await rename(`${valuesFile}.new`, valuesFile);
    },

    async start(options = {}) {
      const deployment = createDeployment({
        valuesFile,
        homeDir: join(folder, 'home'),
        logger: silent,
        pollIntervalMs: 200,
        retryPauses: FAST_PAUSES,
        ...options,
      });
      await deployment.start();
      const { origin: url, close } = await startHttpSite(deployment.app);
      let stopped: Promise<void> | undefined;
      const stop = (): Promise<void> => {
        stopped ??= deployment.stop().then(close);
        return stopped;
      };
      closers.push(stop);
      const status = async (): Promise<DeploymentStatus> => {
        await fetch(`${url}/-/status`).then((response) => response.arrayBuffer());
        return deployment.status();
      };
      return {
        url,
        deployment,
        stop,
        status,
        text: async (path, init) => await (await fetch(url + path, init)).text(),
        until: async (what, expected) =>
          await waitFor(
            async () => {
              const found = await status();
              if (!expected(found)) throw new Error(JSON.stringify(found));
              return found;
            },
            { describe: what, everyMs: 20 },
          ),
      };
    },

    async serve(handler) {
      const { origin, close } = await startHttpSite(handler);
      closers.push(close);
      return origin;
    },

    async close() {
      await Promise.all(closers.map((close) => close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
