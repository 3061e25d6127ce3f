import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { z } from 'zod';
import { deliveryId, type stormResult } from '../storm/delivery-ids.ts';
import { entryBody, signedHeaders } from './signed-delivery.ts';

/** A process that sends deliveries to one path. Like a CMS, it repeats each one until the response is 202. */
const options = z.object({ origin: z.string(), path: z.string(), deliveries: z.int(), inFlight: z.int() });

/** Shorter than a CMS's delay, so that a rejection costs little time. */
const RESEND_AFTER_MS = 500;
const PROGRESS_EVERY = 10_000;

const { origin, path, deliveries, inFlight } = options.parse(JSON.parse(process.argv[2] ?? ''));
const pool = new Pool(origin, { connections: inFlight, pipelining: 1 });
const beginMs = performance.now();
let next = 0;
let acknowledged = 0;
let refused = 0;

async function sendAll(): Promise<void> {
  while (next < deliveries) {
    const index = next++;
    while (!(await send(index))) {
      refused += 1;
      await sleep(RESEND_AFTER_MS);
    }
    acknowledged += 1;
    if (acknowledged % PROGRESS_EVERY === 0) process.stderr.write(`${acknowledged} of ${deliveries} acknowledged\n`);
  }
}

async function send(index: number): Promise<boolean> {
  const body = entryBody(index);
  const headers = signedHeaders(deliveryId(index), body);
  const response = await pool.request({ path, method: 'POST', headers, body });
  await response.body.dump();
  return response.statusCode === 202;
}

await Promise.all(Array.from({ length: inFlight }, sendAll));
const seconds = (performance.now() - beginMs) / 1_000;
const result: z.infer<typeof stormResult> = { acknowledged, refused, seconds, endedAtMs: Date.now() };
await pool.close();
process.stdout.write(`${JSON.stringify(result)}\n`);
