import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { type HttpService, listeningUrl, serve } from '../../programs/process/serve.ts';
import { createGate } from '../helpers/system/gate.ts';

const LOCAL = { host: '127.0.0.1', port: 0, variable: 'PORT' };

let service: HttpService | undefined;

afterEach(() => service?.stop());

describe('an HTTP service', () => {
  test('uses a free port for 0, and returns its URL', async () => {
    service = await serve(
      express().get('/', (_request, response) => void response.send('here')),
      LOCAL,
    );
    expect(await (await fetch(service.url)).text()).toBe('here');
  });

  test.each([
    ['127.0.0.1', 'http://127.0.0.1:3100'],
    ['0.0.0.0', 'http://127.0.0.1:3100'],
    ['::', 'http://127.0.0.1:3100'],
    ['::1', 'http://[::1]:3100'],
    ['galley.internal', 'http://galley.internal:3100'],
  ])('that listens on %s has the URL %s, also for other processes', (host, url) => {
    expect(listeningUrl({ host, port: 3100 })).toBe(url);
  });

  test('names the variable to set if its port is in use', async () => {
    service = await serve(express(), LOCAL);
    await expect(serve(express(), { ...LOCAL, port: service.port })).rejects.toThrow(
      new RegExp(`^Port ${service.port} on 127\\.0\\.0\\.1 is in use: .* set PORT to another port`),
    );
  });

  test('completes a running response when stopped, and ends despite a keep-alive connection', async () => {
    const asked = createGate();
    const stopping = createGate();
    service = await serve(
      express().get('/slow', async (_request, response) => {
        asked.open();
        await stopping.pass();
        response.send('whole');
      }),
      LOCAL,
    );
    const agent = new Agent({ keepAlive: true });
    const answered = new Promise<IncomingMessage>((resolve) => {
      get(`${service?.url}/slow`, { agent }, resolve);
    });
    await asked.pass();
    const stopped = service.stop();
    stopping.open();
    const response = await answered;
    let text = '';
    for await (const chunk of response) text += String(chunk);
    expect(text).toBe('whole');
    await stopped;
    agent.destroy();
  });

  test('answers one more request on a kept connection while it drains, and ends the connection with it', async () => {
    const app = express().get('/', (_request, response) => void response.send('here'));
    service = await serve(app, LOCAL, { drainMs: 600_000, stopMs: 600_000 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (url: string): Promise<IncomingMessage> => {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        get(url, { agent }, resolve).on('error', reject);
      });
      await once(response.resume(), 'end');
      return response;
    };
    const first = await ask(service.url);
    expect(first.headers.connection).toBe('keep-alive');
    const stopped = service.stop();
    const second = await ask(service.url);
    expect([second.statusCode, second.headers.connection]).toEqual([200, 'close']);
    await stopped;
    await expect(ask(service.url)).rejects.toThrow('ECONNREFUSED');
    agent.destroy();
  });

  test('ends an unused connection once it has drained', async () => {
    service = await serve(express(), LOCAL, { drainMs: 1, stopMs: 600_000 });
    const socket = connect(service.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    await Promise.all([service.stop(), once(socket, 'close')]);
  });

  test('disconnects a client that never finishes its request when stopped', async () => {
    service = await serve(express(), LOCAL, { stopMs: 100 });
    const socket = connect(service.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n');
    socket.on('error', () => {});
    await service.stop();
    socket.destroy();
    await expect(fetch(service.url)).rejects.toThrow();
  });

  test.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n', 400],
    ['two Hosts of HTTP/1.0', 'GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n', 400],
    ['headers past the limit', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
    ['an expectation nobody can meet', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\n\r\n', 417],
  ])('responds to %s with the common error format', async (_what, request, status) => {
    service = await serve(express(), LOCAL);
    const answer = await rawResponse(service.port, request);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/i);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual({ error: expect.any(String) });
  });

  test('responds to invalid bytes after a valid request on the same connection', async () => {
    service = await serve(
      express().get('/', (_request, response) => void response.send('here')),
      LOCAL,
    );
    const answer = await rawResponse(service.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', 'hello\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*hereHTTP\/1\.1 400 /);
  });
});

describe('pages without a sign-in', () => {
  const app = express().use((_request, response) => void response.send('here'));
  const local = { publicUrl: 'https://docs.example.com/galley', variable: 'PLATFORM_PUBLIC_URL' };

  async function statusFor(host: string, path = '/'): Promise<string | undefined> {
    const answer = await rawResponse(service?.port ?? 0, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    return /^HTTP\/1\.1 (\d+) /.exec(answer)?.[1];
  }

  const LOCAL_NAMES = ['localhost', 'LOCALHOST:3100', 'up.localhost', '127.0.0.1:80', '127.1.2.3', '[::1]:1'];
  const FOREIGN_NAMES = [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '192.0.2.1',
    'x/localhost',
  ];

  test('answer on loopback only to its names and the public host, against DNS rebinding', async () => {
    service = await serve(app, { ...LOCAL, local });
    for (const host of [...LOCAL_NAMES, 'docs.example.com', 'docs.example.com:8443'])
      expect([host, await statusFor(host)]).toEqual([host, '200']);
    for (const host of FOREIGN_NAMES) expect([host, await statusFor(host)]).toEqual([host, '403']);
  });

  test('answer to any host on other addresses, and other pages always', async () => {
    service = await serve(app, { ...LOCAL, local: { ...local, paths: /^\/metrics\b/ } });
    expect([await statusFor('evil.example', '/metrics?x'), await statusFor('evil.example', '/')]).toEqual([
      '403',
      '200',
    ]);
    await service.stop();
    service = await serve(app, { ...LOCAL, host: '0.0.0.0', local });
    expect(await statusFor('galley.internal')).toBe('200');
  });
});

describe('a client that exceeds a timeout', () => {
  const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n';
  /** Reads nothing, and answers what it is told: the last word is the server's. */
  const silent = express().post('/', (request) => void request.resume());

  test.each([
    ['says nothing at all', '', ''],
    ['drips its headers', 'POST / HTTP/1.1\r\n', 'X: y\r\n'],
    ['drips its body', HEAD, 'x'],
  ])(
    'and %s gets 408 and is disconnected, even if it does not close the connection itself',
    async (_what, first, drop) => {
      service = await serve(silent, LOCAL, { headersMs: 100, requestMs: 200, checkMs: 20, lingerMs: 50 });
      const socket = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true });
      let text = '';
      socket.on('data', (chunk) => {
        text += String(chunk);
      });
      const gone = new Promise<void>((resolve) => socket.once('error', () => {}).once('close', () => resolve()));
      socket.write(first);
      const drips = setInterval(() => {
        // Whoever says nothing begins to when it is too late: only writing tells that the other end is gone.
        if (!socket.destroyed) socket.write(drop || (text === '' ? '' : 'x'));
      }, 20);
      await gone;
      clearInterval(drips);
      expect(text).toMatch(/^HTTP\/1\.1 408 [\s\S]*\{"error":"the request took too long"\}$/);
    },
  );

  test('between two requests is disconnected without a response', async () => {
    const app = express().get('/', (_request, response) => void response.send('here'));
    service = await serve(app, LOCAL, { keepAliveMs: 50 });
    const socket = connect(service.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*here$/);
  });
});

describe('requests that are sent without waiting for responses', () => {
  const app = express()
    .get('/slow', async (_request, response) => {
      await sleep(20);
      response.send('slow.');
    })
    .post('/length', async (request, response) => {
      let sizeBytes = 0;
      for await (const chunk of request) sizeBytes += chunk.length;
      await sleep(10);
      response.send(`${sizeBytes} bytes.`);
    });
  const slow = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n';
  const post = (length: number, body: string): string =>
    `POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${body}`;

  test.each([
    ['are answered in their order', slow + post(3, 'abc') + slow, ['slow.', '3 bytes.', 'slow.']],
    ['are answered before what is no request at all', `${slow + slow}hello\r\n\r\n`, ['slow.', 'slow.', '400']],
    ['end at a body that is longer than it said', `${slow}${post(3, 'abcdef\r\n\r\n')}`, ['slow.', '3 bytes.', '400']],
  ])('%s', async (_what, requests, answers) => {
    service = await serve(app, LOCAL, { keepAliveMs: 100 });
    const socket = connect(service.port, '127.0.0.1');
    socket.write(requests);
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    const found = text.split('HTTP/1.1 ').slice(1);
    expect(found).toHaveLength(answers.length);
    for (const [index, answer] of answers.entries()) expect(found[index]).toContain(answer);
  });
});

/** What the server sends until it closes. The next request is written after the first response. */
async function rawResponse(port: number, request: string, further?: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(request);
  let text = '';
  for await (const chunk of socket) {
    if (text === '' && further !== undefined) socket.write(further);
    else if (text === '') socket.end();
    text += String(chunk);
  }
  return text;
}
