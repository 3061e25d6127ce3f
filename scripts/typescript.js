// Lets plain Node import this project's TypeScript: `node --import ./scripts/typescript.js cli/main.ts …`.
// The tests need it for code that jest doesn't transform: its global setup, worker threads and spawned commands.
import * as nodeModule from 'node:module';
import { extname } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { load } from './typescript-loader.js';

// Every thread of such a process runs this file, and on Node 20 each registration starts another thread with a compiler.
// Threads that run a package's JavaScript, such as Temporal's workflow threads, don't need it. Threads of the piscina pool
// do: they load their tasks from a source file.
const [, first = ''] = process.argv;
if (isMainThread || extname(first) === '.ts' || first.includes('piscina')) {
  // Node 20 has only the older function, which Node 26 warns about.
  if (nodeModule.registerHooks) nodeModule.registerHooks({ load });
  else nodeModule.register('./typescript-loader.js', import.meta.url);
}
