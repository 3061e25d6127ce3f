import { readFile } from 'node:fs/promises';
import type { TemporalServer } from './temporal-server.ts';

/**
 * Everything that Temporal stores, as Latin-1 text: the history of every workflow, and the bytes of its database, which
 * also contains heartbeats, attributes and pending work but may split long texts.
 */
export async function storedInTemporal({ client, dbFilename }: TemporalServer): Promise<string> {
  const texts: string[] = [];
  // The client's own list would decode payloads for which this process may have no key.
  const { namespace } = client.options;
  const { executions } = await client.workflowService.listWorkflowExecutions({ namespace, pageSize: 1_000 });
  for (const { execution } of executions ?? []) {
    const handle = client.workflow.getHandle(execution?.workflowId ?? '', execution?.runId ?? undefined);
    collect(await handle.fetchHistory(), texts);
  }
  texts.push((await readFile(dbFilename)).toString('latin1'));
  return texts.join('\n');
}

function collect(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value);
  else if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString('latin1'));
  else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) collect(each, texts);
}
