import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { jest } from '@jest/globals';
import express, { type Response } from 'express';
import { type EventStream, startEventStream } from '../../web/event-stream.ts';

/** More than the buffers of both ends of a connection hold. */
const LARGE = 'x'.repeat(2 ** 25);
const LONG_MS = 60_000;

type Opened = { stream: EventStream; response: Response; isOver: () => boolean; client: Socket };

const app = express();
const server = createServer(app);
let stopping: AbortController;
let clients: Socket[];
let started: (opened: Omit<Opened, 'client'>) => void;

app.all('/events', (request, response) => {
  let isOver = false;
  const onEnd = (): void => {
    isOver = true;
  };
  const stream = startEventStream(request, response, { stopped: stopping.signal, onEnd });
  started({ stream, response, isOver: () => isOver });
});

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  jest.useFakeTimers({
    doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'setTimeout', 'performance', 'Date'],
  });
  stopping = new AbortController();
  clients = [];
});
afterEach(() => {
  for (const client of clients) client.destroy();
  jest.useRealTimers();
});

/** Opens a stream whose client reads nothing until it is resumed. */
async function open(method = 'GET'): Promise<Opened> {
  const { port }: AddressInfo = Object.assign({ port: 0, address: '', family: '' }, server.address());
  const opened = new Promise<Omit<Opened, 'client'>>((resolve) => {
    started = resolve;
  });
  const client = connect(port, '127.0.0.1').pause();
  clients.push(client);
  client.write(`${method} /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  return { ...(await opened), client };
}

async function textOf(client: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of client) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

describe('an event stream', () => {
  it('sends events and a heartbeat until it is stopped', async () => {
    const { stream, client, isOver } = await open();
    expect(stream.send('one\ntwo')).toBe(true);
    jest.advanceTimersByTime(20_000);
    stopping.abort();
    expect(stream.send('late')).toBe(false);
    const text = await textOf(client);
    expect(text).toMatch(/: connected\n\n[\s\S]*data: one\ndata: two\n\n[\s\S]*: still here\n\n/);
    expect(text).not.toContain('late');
    expect(isOver()).toBe(true);
  });

  it('says that an event was not sent to a client that reads nothing, and sends again once it does', async () => {
    const { stream, response, client } = await open();
    expect(stream.send(LARGE)).toBe(true);
    expect(stream.send('dropped')).toBe(false);
    client.resume();
    await once(response, 'drain');
    expect(stream.send('next')).toBe(true);
  });

  it('writes no heartbeat to a client that reads nothing, also after its end', async () => {
    const { stream, response, isOver } = await open();
    const errors: Error[] = [];
    response.on('error', (error) => errors.push(error));
    stream.send(LARGE);
    const buffered = response.writableLength;
    jest.advanceTimersByTime(LONG_MS);
    expect(response.writableLength).toBe(buffered);
    stopping.abort();
    jest.advanceTimersByTime(LONG_MS);
    await new Promise(setImmediate);
    expect([errors, isOver()]).toEqual([[], false]);
  });

  it('ends after the headers for HEAD', async () => {
    const { client, isOver } = await open('HEAD');
    const text = await textOf(client);
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*text\/event-stream[\s\S]*\r\n\r\n$/);
    expect(isOver()).toBe(true);
  });
});
