// Lets plain Node import this project's TypeScript: `node --import ./scripts/typescript.js cli/main.ts …`.
// The tests need it for code that jest doesn't transform: its global setup, worker threads and spawned commands.
import { register } from 'node:module';
import { extname } from 'node:path';
import { isMainThread } from 'node:worker_threads';

// Every thread of such a process runs this file, and each registration starts another thread with a compiler. Threads that
// run a package's JavaScript, such as Temporal's workflow threads, don't need it. Threads of the piscina pool do: they load
// their tasks from a source file.
const [, first = ''] = process.argv;
if (isMainThread || extname(first) === '.ts' || first.includes('piscina')) {
  register('./typescript-loader.js', import.meta.url);
}
