import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { RECEIVER_CONNECTION } from '../../api/temporal-connection.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** In a process of its own, because what is shown is that the process doesn't end by it. */
const PROGRAM = `
  import { Client, Connection } from '@temporalio/client';
  import { RECEIVER_CONNECTION } from './api/temporal-connection.ts';
  const connection = Connection.lazy({ address: '127.0.0.1:1', ...RECEIVER_CONNECTION });
  const started = new Client({ connection }).workflow.start('x', { workflowId: 'x', taskQueue: 'q' });
  setTimeout(() => void connection.close(), 150);
  started.catch((error) => console.log('refused:', error.cause?.details));
`;

test('a connection that closes while a call waits for its next try ends the call and not the process', async () => {
  const args = ['--import', './scripts/typescript.js', '--input-type=module', '--eval', PROGRAM];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => void output.push(String(chunk)));
  const [code] = await once(child, 'close');
  expect(output.join('')).toContain('refused: the connection to Temporal was closed');
  expect(code).toBe(0);
});

test('a call on a closed connection is refused', async () => {
  const connection = Connection.lazy({ address: '127.0.0.1:1', ...RECEIVER_CONNECTION });
  const client = new Client({ connection });
  // The first call opens the channel, without which there is nothing to close.
  const first = client.workflow.getHandle('x').describe();
  await sleep(50);
  await connection.close();
  await expect(first).rejects.toThrow();
  await expect(client.workflow.getHandle('x').describe()).rejects.toThrow();
});
