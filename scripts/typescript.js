// Lets plain Node import this project's TypeScript: `node --import ./scripts/typescript.js cli/main.ts …`.
// The tests need it for what jest doesn't transform: its global setup, worker threads and spawned commands.
import { register } from 'node:module';
import { extname } from 'node:path';
import { isMainThread } from 'node:worker_threads';

// Every thread of such a process comes here, and the hooks are a further thread with a compiler in it. A thread that
// begins with a package's JavaScript, such as the one that Temporal's workers keep workflows in, needs neither; a thread of
// the pool (piscina) loads its tasks from a source file.
const [, first = ''] = process.argv;
if (isMainThread || extname(first) === '.ts' || first.includes('piscina')) {
  register('./typescript-loader.js', import.meta.url);
}
