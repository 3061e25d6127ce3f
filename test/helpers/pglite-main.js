// An embedded PostgreSQL behind a port, for pglite.ts: `node pglite-main.js <port, 0 for any> <data directory's tar>`.
// Says its address in one line once it listens, and lasts as long as its standard input.
import { readFile } from 'node:fs/promises';
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';

const [port, tar] = process.argv.slice(2);
process.stdin.resume().on('end', () => process.exit());
const db = await PGlite.create({ loadDataDir: new Blob([await readFile(tar)]) });
const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: Number(port), maxConnections: 8 });
await server.start();
process.stdout.write(`${server.getServerConn()}\n`);
