import { randomUUID } from 'node:crypto';

/**
 * Makes the `Idempotency-Key` of one export attempt. A workflow can't make it: after a reset or a restored database it
 * repeats its ids and random numbers, and a repeated key would return the old job.
 */
export async function createExportKey(): Promise<string> {
  return randomUUID();
}
