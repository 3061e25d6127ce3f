import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { z } from 'zod';
import { closedLoop, loopOptions } from './closed-loop.ts';
import { entryBody, signedHeaders } from './signed-delivery.ts';

/** A process that sends signed deliveries with unique ids to these paths in turn and prints the measurement. */
const options = loopOptions.extend({ origin: z.string(), paths: z.array(z.string()).min(1) });

const { origin, paths, ...loop } = options.parse(JSON.parse(process.argv[2] ?? ''));
const pool = new Pool(origin, { connections: loop.inFlight, pipelining: 1 });

const result = await closedLoop(loop, async (index) => {
  const body = entryBody(index);
  const path = paths[index % paths.length] ?? '';
  const headers = signedHeaders(randomUUID(), body);
  const response = await pool.request({ path, method: 'POST', headers, body });
  await response.body.dump();
  return response.statusCode === 202;
});
await pool.close();
process.stdout.write(`${JSON.stringify(result)}\n`);
