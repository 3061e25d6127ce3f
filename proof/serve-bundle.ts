import { createServer } from 'node:http';
import type { Logger } from 'pino';
import { readStored } from '../deployment/fetch/stored-version.ts';
import { createLiveSettings } from '../deployment/live-settings.ts';
import { createFileCache } from '../deployment/serve/file-cache.ts';
import { createServeHandler } from '../deployment/serve/serve.ts';
import { createSite, type ServedSite } from '../deployment/site.ts';

const CACHE_BYTES = 64 * 1024 ** 2;

export type ServedBundle = {
  /** Such as `http://127.0.0.1:40123`. */
  origin: string;
  site: ServedSite;
  close(): Promise<void>;
};

/** Serves an unpacked bundle on loopback as a deployment does. Throws if its manifest is missing or damaged. */
export async function serveBundle(folder: string, logger: Logger): Promise<ServedBundle> {
  const { root, manifest } = await readStored(folder);
  const site = createSite(root, '', manifest);
  const settings = createLiveSettings(false);
  const handler = createServeHandler({
    basePath: '',
    isOff: () => false,
    site: () => site,
    previous: () => [],
    swappedRecently: () => false,
    policy: settings.policy,
    representations: settings.representations,
    cache: createFileCache(CACHE_BYTES),
    endpoints: (_req, res) => void res.writeHead(404).end(),
    basicAuth: undefined,
    countResponse: () => undefined,
    accessLog: undefined,
    logger,
  });
  const server = createServer(handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: 0, host: '127.0.0.1' }, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server of the bundle has no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    site,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
