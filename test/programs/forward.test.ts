import express from 'express';
import { type HttpService, serve } from '../../programs/process/serve.ts';
import { forwardTo } from '../../programs/up/forward.ts';

const LOCAL = { host: '127.0.0.1', port: 0, variable: 'PORT' };

describe('a forwarding server', () => {
  let target: HttpService;
  let front: HttpService;

  beforeAll(async () => {
    const app = express();
    app.post('/echo', (request, response) => {
      response
        .status(201)
        .set('x-host', request.headers.host ?? '')
        .set('x-query', request.url);
      request.pipe(response);
    });
    app.get('/broken', (_request, response) => {
      response.write('half', () => response.destroy());
    });
    app.get('/silent', (_request, response) => void response.destroy());
    target = await serve(app, LOCAL);
    front = await serve(forwardTo(target.url), LOCAL);
  });
  afterAll(async () => {
    await front?.stop();
    await target?.stop();
  });

  test('passes requests and responses on unchanged', async () => {
    const sent = 'a body '.repeat(50_000);
    const response = await fetch(`${front.url}/echo?a=%20b`, { method: 'POST', body: sent });
    const { headers } = response;
    expect([response.status, headers.get('x-host'), headers.get('x-query')]).toEqual([
      201,
      new URL(front.url).host,
      '/echo?a=%20b',
    ]);
    expect(await response.text()).toBe(sent);
    await expect(fetch(`${front.url}/broken`).then((half) => half.text())).rejects.toThrow();
    expect((await fetch(`${front.url}/silent`)).status).toBe(502);
  });

  test('responds 502 while its target is away, and stays', async () => {
    await target.stop();
    expect((await fetch(`${front.url}/echo`, { method: 'POST', body: 'x' })).status).toBe(502);
    expect((await fetch(`${front.url}/echo`)).status).toBe(502);
  });
});
