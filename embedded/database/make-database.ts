import { workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { z } from 'zod';

// A thread that creates an empty database in a folder and ends.

const db = await PGlite.create({ dataDir: z.string().parse(workerData) });
await db.close();
