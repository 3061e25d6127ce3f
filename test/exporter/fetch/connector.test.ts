import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** undici pauses its parser after exactly this many bytes. */
const BODY_BYTES = 64 * 1024;

const FRAMINGS = {
  'a length': `Content-Length: ${BODY_BYTES}`,
  'the end of the connection': 'X-Length: none',
} as const;

/** Reads a response only after its end has arrived. Runs in a separate process, because the fault would crash it. */
const programFor = (framing: string): string => `
  import { createServer } from 'node:net';
  import { Agent, request } from 'undici';
  import { createConnector } from './base/connector.ts';
  const body = 'a'.repeat(${BODY_BYTES});
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n${framing}\\r\\n\\r\\n' + body));
  }).listen(0, '127.0.0.1', async () => {
    const connect = createConnector();
    let ended;
    const atEnd = new Promise((resolve) => (ended = resolve));
    const agent = new Agent({
      connect: (target, callback) =>
        connect(target, (error, socket) => {
          socket?.prependListener('end', ended);
          callback(error, socket);
        }),
    });
    const response = await request('http://127.0.0.1:' + server.address().port, { dispatcher: agent });
    await atEnd;
    console.log('read', (await response.body.text()).length);
    process.exit(0);
  });
`;

it.each(Object.entries(FRAMINGS))(
  'a response that ends by %s while its reader pauses is complete, and the process does not crash',
  async (_, framing) => {
    const args = ['--import', './scripts/typescript.js', '--input-type=module', '--eval', programFor(framing)];
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => void output.push(String(chunk)));
    const [code] = await once(child, 'close');
    expect({ code, output: output.join('') }).toEqual({ code: 0, output: `read ${BODY_BYTES}\n` });
  },
);
