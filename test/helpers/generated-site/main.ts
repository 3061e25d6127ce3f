// Serves a generated site: `node --import ./scripts/typescript.js test/helpers/generated-site/main.ts
// '{"pages": 10000, "delayMs": 50, "port": 8080}'` (see options.ts). Prints one line: `ready` and its origin.
import { listenOnLoopback } from './listen.ts';
import type { GeneratedSiteOptions } from './options.ts';
import { createGeneratedSite } from './server.ts';

const options: GeneratedSiteOptions = JSON.parse(process.argv[2] ?? '{"pages":1000}');
const url = await listenOnLoopback(createGeneratedSite(options), options.port ?? 0);
console.log(`ready ${url}`);
process.once('SIGTERM', () => process.exit(0));
