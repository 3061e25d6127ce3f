// Serves a generated site: `node --import ./scripts/typescript.js test/helpers/generated-site/main.ts
// '{"pages": 10000, "delayMs": 50, "port": 8080}'` (see options.ts). Prints one line: `ready` and its origin.

import { once } from 'node:events';
import type { Server } from 'node:http';
import type { GeneratedSiteOptions } from './options.ts';
import { createGeneratedSite } from './server.ts';

const options: GeneratedSiteOptions = JSON.parse(process.argv[2] ?? '{"pages":1000}');
const url = await listenOnLoopback(createGeneratedSite(options), options.port ?? 0);
console.log(`ready ${url}`);
process.once('SIGTERM', () => process.exit(0));

/** Listens on 127.0.0.1 (port 0: a free one) and returns the origin. */
async function listenOnLoopback(server: Server, port: number): Promise<string> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The site has no port');
  return `http://127.0.0.1:${address.port}`;
}
