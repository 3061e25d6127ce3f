import express from 'express';
import { pino } from 'pino';
import { platformErrorHandler } from '../../../platform/api/error-handler.ts';
import { readIdempotencyKey } from '../../../platform/api/idempotency.ts';
import { MAX_BODY_BYTES, readJsonBody } from '../../../platform/api/json-body.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';

const JSON_TYPE = 'application/json';

describe('a request', () => {
  let server: HttpSite;

  beforeAll(async () => {
    const app = express();
    app.post('/body', async (request, response) => void response.json(await readJsonBody(request, response)));
    app.post('/key', (request, response) => void response.json(readIdempotencyKey(request, {})?.key ?? null));
    app.use(platformErrorHandler(pino({ level: 'silent' })));
    server = await startHttpSite(app);
  });
  afterAll(() => server.close());

  async function post(path: string, headers: Record<string, string>, body = '') {
    const response = await fetch(server.origin + path, { method: 'POST', headers, body: Buffer.from(body) });
    return { status: response.status, body: await response.json() };
  }

  it.each([
    ['JSON', 200, '{"a":1}', JSON_TYPE],
    ['any kind of JSON', 200, '{"a":1}', 'application/vnd.galley+json; charset=utf-8'],
    ['JSON of just 1 MiB', 200, '{"a":1}'.padEnd(MAX_BODY_BYTES), JSON_TYPE],
    ['JSON that is cut off', 400, '{"a":', JSON_TYPE],
    ['null', 400, 'null', JSON_TYPE],
    ['text as JSON', 400, '"text"', JSON_TYPE],
    ['more than JSON', 400, '{"a":"a"} x', JSON_TYPE],
    ['a control character', 400, '{"a":"\u0000"}', JSON_TYPE],
    ['more than 1 MiB', 413, '{"a":1}'.padEnd(MAX_BODY_BYTES + 1), JSON_TYPE],
    ['text', 415, '{"a":1}', 'text/plain'],
    ['a form', 415, '{"a":1}', 'application/x-www-form-urlencoded'],
    ['a type that begins like JSON', 415, '{"a":1}', 'application/jsonp'],
    ['no type', 415, '{"a":1}', ''],
  ])('with %s as its body gets status %i', async (_what, status, body, type) => {
    const response = await post('/body', { 'content-type': type }, body);
    expect(response).toEqual({ status, body: status === 200 ? { a: 1 } : { error: expect.any(String) } });
  });

  it.each(['', 'a b', 'x'.repeat(256), 'ä'])('with the Idempotency-Key %j is rejected', async (key) => {
    const { status, body } = await post('/key', { 'idempotency-key': key });
    expect([status, body]).toEqual([400, { error: expect.stringContaining('Idempotency-Key') }]);
  });

  it('may have an Idempotency-Key of 255 printable characters, or none', async () => {
    const key = '!~'.padEnd(255, 'x');
    expect(await post('/key', { 'idempotency-key': key })).toEqual({ status: 200, body: key });
    expect(await post('/key', {})).toEqual({ status: 200, body: null });
  });
});
