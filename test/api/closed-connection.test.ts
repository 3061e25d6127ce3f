import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { RECEIVER_CONNECTION } from '../../api/temporal-connection.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Closes the connection after the first failed attempt. Runs in a separate process, because the bug would end the process. */
const PROGRAM = `
  import { InterceptingCall } from '@grpc/grpc-js';
  import { Client, Connection } from '@temporalio/client';
  import { RECEIVER_CONNECTION } from './api/temporal-connection.ts';
  const closeAfterAttempt = (options, nextCall) =>
    new InterceptingCall(nextCall(options), { start(metadata, listener, next) {
        next(metadata, { onReceiveStatus(status, pass) {
            pass(status);
            void connection.close();
          },
        });
      },
    });
  const interceptors = [...RECEIVER_CONNECTION.interceptors, closeAfterAttempt];
  const connection = Connection.lazy({ address: '127.0.0.1:1', ...RECEIVER_CONNECTION, interceptors });
  const started = new Client({ connection }).workflow.start('x', { workflowId: 'x', taskQueue: 'q' });
  started.catch((error) => console.log('refused:', error.cause?.details));
`;

test('closing a connection between two attempts fails the call but does not end the process', async () => {
  const args = ['--import', './scripts/typescript.js', '--input-type=module', '--eval', PROGRAM];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => void output.push(String(chunk)));
  const [code] = await once(child, 'close');
  expect(output.join('')).toContain('refused: the connection to Temporal was closed');
  expect(code).toBe(0);
});

test('a call on a closed connection fails', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const connection = Connection.lazy({ address: `127.0.0.1:${port}`, ...RECEIVER_CONNECTION });
  const client = new Client({ connection });
  // The first call creates the channel that the test closes.
  const first = expect(client.workflow.getHandle('x').describe()).rejects.toThrow();
  const [socket]: Socket[] = await once(server, 'connection');
  await connection.close();
  await first;
  await expect(client.workflow.getHandle('x').describe()).rejects.toThrow();
  socket?.destroy();
  server.close();
});
