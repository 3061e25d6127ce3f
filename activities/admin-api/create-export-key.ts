import { randomUUID } from 'node:crypto';

/**
 * Makes the `Idempotency-Key` of one deliberate try to export. An activity does this because a workflow repeats its ids
 * and its random numbers after a reset or a restored database, and a repeated key gets the old job as the answer.
 */
export async function createExportKey(): Promise<string> {
  return randomUUID();
}
