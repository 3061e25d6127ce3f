import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { jest } from '@jest/globals';
import express, { type Response } from 'express';
import pino from 'pino';
import { streamChanges } from '../../../platform/dashboard/live.ts';

/** More than the buffers of both ends of a connection hold. */
const LARGE = 'x'.repeat(2 ** 25);

const logger = pino({ level: 'silent' });
const nothingElse = { logger, stopped: undefined, isSigned: async () => true };

describe('a live part of a page', () => {
  const app = express();
  const server = createServer(app);
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('gets its last state, even if the browser reads nothing for a while, and is then read no more', async () => {
    const states = [{ html: LARGE, isOver: false }];
    let reads = 0;
    const read = async () => {
      reads += 1;
      return states.shift() ?? { html: 'the end', isOver: true };
    };
    const opened = new Promise<Response>((resolve) => {
      app.get('/events', (request, response) => {
        streamChanges({ request, response }, { ...nothingElse, read });
        resolve(response);
      });
    });
    const { port }: AddressInfo = Object.assign({ port: 0, address: '', family: '' }, server.address());
    const browser = connect(port, '127.0.0.1').pause();
    browser.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const response = await opened;
    await jest.advanceTimersByTimeAsync(3_000);
    expect(reads).toBe(4);
    let tail = '';
    const received = new Promise<void>((resolve) => {
      browser.on('data', (chunk) => {
        tail = (tail + chunk.toString()).slice(-100);
        if (tail.includes('data: the end\n')) resolve();
      });
    });
    browser.resume();
    await once(response, 'drain');
    await jest.advanceTimersByTimeAsync(1_000);
    await received;
    await jest.advanceTimersByTimeAsync(5_000);
    expect(reads).toBe(5);
    browser.destroy();
  });
});
