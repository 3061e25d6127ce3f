import { startDevServer } from '../../embedded/temporal/dev-server.ts';

// A process that dev-server.integration.test.ts starts and kills.
const [executable] = process.argv.slice(2);
if (executable === undefined) throw new Error('expected the path of the temporal program');
const server = await startDevServer({ executable });
process.stdout.write(`${server.address}\n`);
