import { createServer } from 'node:http';
import sirv from 'sirv';
import { z } from 'zod';

/** A process that serves a folder with sirv as in production: it reads the file list and headers once, at startup. */
const { folder, port } = z.object({ folder: z.string(), port: z.int() }).parse(JSON.parse(process.argv[2] ?? ''));
const handler = sirv(folder, { etag: true, gzip: true, maxAge: 0 });
createServer((request, response) => handler(request, response)).listen(port, '127.0.0.1');
