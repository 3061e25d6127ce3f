import { startDevServer } from '../../embedded/temporal/dev-server.ts';

// Run as a process of its own by dev-server.test.ts, which kills it.
const [executable] = process.argv.slice(2);
if (executable === undefined) throw new Error('expected the path of the temporal program');
const server = await startDevServer({ executable });
process.stdout.write(`${server.address}\n`);
