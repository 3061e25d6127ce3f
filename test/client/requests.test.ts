import { AdminApiError, type AdminApiResponse, createAdminApiClient } from '../../client/admin-api-client.ts';
import { type Scripted, useScriptedServers } from '../helpers/admin-api/scripted-server.ts';

type Options = Partial<Parameters<typeof createAdminApiClient>[0]>;

const KEY = 'galley_secret';
const startServer = useScriptedServers();

async function service(script: Scripted[], options: Options = {}) {
  const server = await startServer(script);
  // Short enough for tests, but longer than the Retry-After of retried requests.
  const retry = { longestDelayMs: 20 };
  return { server, client: createAdminApiClient({ url: server.url, key: KEY, retry, ...options }) };
}

async function errorOf(work: Promise<unknown>): Promise<AdminApiError> {
  const error: unknown = await work.then(
    (value) => new Error(`expected an error, got ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof AdminApiError) return error;
  throw error;
}

const started = { status: 202, body: { jobId: 'job №1/2' } };
const running = { status: 200, body: { status: 'running' } };

describe('a request', () => {
  it('goes to the path below the base URL, with the key and JSON', async () => {
    const { server, client } = await service([started]);
    const below = createAdminApiClient({ url: `${server.url}/base/path//`, key: KEY });
    await below.exports.start({ domain: 'docs.example.com', paths: ['/'] });
    await client.agentJobs.message({ projectId: 'prj/ö', id: 'a?b', prompt: 'Do it' }, { idempotencyKey: 'mine' });
    expect(server.received).toMatchObject([
      {
        method: 'POST',
        path: '/base/path/v1/static-export/jobs',
        body: '{"domain":"docs.example.com","paths":["/"]}',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', accept: 'application/json' },
      },
      {
        method: 'POST',
        path: '/v2/agent/prj%2F%C3%B6/job/a%3Fb/message',
        body: '{"prompt":"Do it"}',
        headers: { 'idempotency-key': 'mine' },
      },
    ]);
  });

  it.each(['', ' ', '.', '..', '\ud800', 'x'.repeat(501)])('for the id %j is not sent', async (id) => {
    const { server, client } = await service([running]);
    await expect(client.exports.get(id)).rejects.toThrow(/^jobId: expected an id/);
    await expect(client.agentJobs.archive({ projectId: 'p', id })).rejects.toThrow(/^id: expected an id/);
    expect(server.received).toEqual([]);
  });

  it('reports each response, which has what a result leaves out', async () => {
    const headers = { date: 'Sat, 21 Nov 2026 08:00:00 GMT', 'retry-after': '0.01', 'x-request-id': 'r1' };
    const { client } = await service([
      { status: 503, headers },
      { status: 200, headers, body: { status: 'PAUSED' } },
    ]);
    const responses: AdminApiResponse[] = [];
    await client.exports.get('se_1', { onResponse: (response) => responses.push(response) });
    expect(responses).toMatchObject([
      { status: 503, requestId: 'r1', dateMs: Date.UTC(2026, 10, 21, 8), retryAfterMs: 10, body: undefined },
      { status: 200, body: { status: 'PAUSED' } },
    ]);
  });
});

describe('a client', () => {
  it.each([
    ['url', { url: 'ftp://example.com' }],
    ['url', { url: 'no URL' }],
    ['url', { url: 'https://ada:hush@example.com' }],
    ['url', { url: 'https://example.com/?token=hush' }],
    ['key', { key: 'hush\nhush' }],
    ['key', { key: 'hüsh' }],
  ])('cannot be created with an invalid %s, which the error does not quote', (name, options) => {
    const make = () => createAdminApiClient({ url: 'http://127.0.0.1', key: KEY, ...options });
    expect(make).toThrow(new RegExp(`^${name}: expected`));
    expect(make).not.toThrow(/h.sh/);
  });
});

describe('a failed request', () => {
  it("is one error with the service's message", async () => {
    const headers = { 'retry-after': '90', 'x-request-id': 'r1' };
    const { client } = await service([{ status: 429, headers, body: { error: 'Too many\nexports' } }]);
    expect(await errorOf(client.exports.start({ domain: 'docs.example.com' }))).toMatchObject({
      name: 'AdminApiError',
      message: 'POST /v1/static-export/jobs was answered 429: Too many exports',
      ...{ status: 429, reason: 'Too many exports', requestId: 'r1', retryAfterMs: 90_000 },
    });
  });

  it.each<[string, Scripted, string]>([
    ['{"message"}', { status: 400, body: { message: 'no' } }, 'no'],
    ['{"error": 7}', { status: 400, body: { error: 7 } }, '7'],
    ['other JSON', { status: 400, body: [] }, 'JSON without an error message'],
    ['HTML', { status: 400, text: '<h1>Bad' }, 'an HTML page instead of JSON'],
    ['text', { status: 400, text: 'bad' }, 'a body that is not JSON'],
    ['nothing', { status: 400, text: '' }, 'an empty body'],
    ['5 MB', { status: 400, text: 'x'.repeat(5_000_000) }, 'a body that is not JSON'],
  ])('may have any body: %s', async (_, scripted, reason) => {
    const { client } = await service([scripted]);
    expect(await errorOf(client.exports.get('se_1'))).toMatchObject({ status: 400, reason });
  });

  it('never contains the key, even if the service or fetch quotes it', async () => {
    const { client } = await service([{ status: 401, body: { error: `unknown key ${KEY}` } }]);
    const failing = createAdminApiClient({
      ...{ url: 'http://127.0.0.1', key: KEY, retry: false },
      fetch: (_url, { headers }) => Promise.reject(new Error(`bad request ${JSON.stringify(headers)}`)),
    });
    const errors = [await errorOf(client.exports.get('se_1')), await errorOf(failing.exports.get('se_1'))];
    expect(errors.map(({ reason }) => reason)).toEqual([
      'unknown key [key]',
      expect.stringContaining('"authorization":"Bearer [key]"'),
    ]);
    for (const error of errors) {
      const all = Object.getOwnPropertyNames(error).map((name) => String(Reflect.get(error, name)));
      expect(all.join('\n')).not.toContain(KEY);
    }
  });

  it.each([301, 302, 303, 307, 308])('with %i is not redirected, so the key stays with its URL', async (status) => {
    const { server: elsewhere } = await service([running]);
    const { client } = await service([{ status, headers: { location: elsewhere.url } }]);
    const error = await errorOf(client.exports.start({ domain: 'docs.example.com' }));
    expect(error).toMatchObject({ status, message: expect.stringContaining(`${status}, a redirect: an empty body`) });
    expect(elsewhere.received).toEqual([]);
  });

  it.each<[Scripted, string]>([
    ['reset', 'ECONNRESET'],
    ['cut', 'other side closed'],
    ['silence', 'no answer within 0.2 s'],
  ])('without a complete response (%s) has no status and gives the reason', async (scripted, reason) => {
    const timeoutMs = scripted === 'silence' ? 200 : 60_000;
    const { client } = await service([scripted], { timeoutMs, retry: false });
    const error = await errorOf(client.exports.get('se_1'));
    expect(error).toMatchObject({ status: null, reason: expect.stringContaining(reason) });
  });

  it('for a closed port names it', async () => {
    const { server, client } = await service([running], { retry: false });
    await server.close();
    expect((await errorOf(client.exports.get('se_1'))).reason).toMatch(/ECONNREFUSED 127\.0\.0\.1:\d+/);
  });

  it('is not a port that browsers block', async () => {
    const client = createAdminApiClient({ url: 'http://127.0.0.1:1', key: KEY, retry: false });
    expect((await errorOf(client.exports.get('se_1'))).reason).toBe('connect ECONNREFUSED 127.0.0.1:1');
  });

  it('is a response that is too long', async () => {
    const { server, client } = await service([{ status: 200, text: `{"status":"${'x'.repeat(5_000_000)}"}` }]);
    expect(await errorOf(client.exports.get('se_1'))).toMatchObject({ reason: expect.stringContaining('longer than') });
    expect(server.received).toHaveLength(4);
  });
});

describe('a retry', () => {
  it.each<[string, Scripted]>([
    ['500', { status: 500 }],
    ['502 with HTML', { status: 502, text: '<html>' }],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '0.01' } }],
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '0.01' } }],
    ['408', { status: 408 }],
    ['a reset', 'reset'],
    ['a cut response', 'cut'],
    ['silence', 'silence'],
  ])('follows %s, and a create repeats its key', async (_, scripted) => {
    const timeoutMs = scripted === 'silence' ? 2_000 : 60_000;
    const { server, client } = await service([scripted, started], { timeoutMs });
    await expect(client.exports.start({ domain: 'docs.example.com' })).resolves.toMatchObject({ jobId: 'job №1/2' });
    const keys = server.received.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).toBe(keys[0]);
  });

  it('uses another key for another create', async () => {
    const { server, client } = await service([{ status: 201, body: { id: 'a' } }]);
    for (const prompt of ['one', 'two']) await client.agentJobs.create({ projectId: 'p', prompt });
    expect(new Set(server.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
  });

  it.each([400, 401, 403, 404, 409, 413, 422, 501])('does not follow %i', async (status) => {
    const { server, client } = await service([{ status }]);
    expect(await errorOf(client.exports.bundle('se_1'))).toMatchObject({ status });
    expect(server.received).toHaveLength(1);
  });

  it('happens up to three times by default, fewer times if configured, and never if disabled', async () => {
    const attempts = async (options: Options): Promise<number> => {
      const { server, client } = await service([{ status: 500 }], options);
      await errorOf(client.exports.get('se_1'));
      return server.received.length;
    };
    expect(await attempts({})).toBe(4);
    expect(await attempts({ retry: { attempts: 2, longestDelayMs: 5 } })).toBe(2);
    expect(await attempts({ retry: false })).toBe(1);
    expect(await attempts({ retry: { attempts: Number.NaN } })).toBe(1);
  });

  it('does not wait for a Retry-After that is too long, and passes it to the caller', async () => {
    const { server, client } = await service([{ status: 503, headers: { 'retry-after': '31' } }], { retry: {} });
    expect(await errorOf(client.exports.get('se_1'))).toMatchObject({ status: 503, retryAfterMs: 31_000 });
    expect(server.received).toHaveLength(1);
  });
});

describe('an abort', () => {
  it('ends a running request', async () => {
    const { client } = await service(['silence']);
    const stop = new AbortController();
    const request = client.exports.get('se_1', { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(request).rejects.toThrow('enough');
  });

  it('ends the wait for a retry', async () => {
    const stop = new AbortController();
    const { server, client } = await service([{ status: 503, headers: { 'retry-after': '20' } }], { retry: {} });
    const onResponse = (): void => void setImmediate(() => stop.abort(new Error('enough')));
    await expect(client.exports.get('se_1', { signal: stop.signal, onResponse })).rejects.toThrow('enough');
    expect(server.received).toHaveLength(1);
  });

  it('before the request sends nothing', async () => {
    const { server, client } = await service([running]);
    await expect(client.exports.get('se_1', { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(server.received).toEqual([]);
  });

  it('leaves no listener on a signal that outlives its requests', async () => {
    const { client } = await service([running]);
    const { signal } = new AbortController();
    let listeners = 0;
    const counted = new Proxy(signal, {
      get(target, name) {
        if (name === 'addEventListener') listeners += 1;
        if (name === 'removeEventListener') listeners -= 1;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await client.exports.get('se_1', { signal: counted });
    expect(listeners).toBe(0);
  });

  it.each([0, -1, Number.NaN])('after %d ms is an error of the caller', async (timeoutMs) => {
    const { client } = await service([running]);
    await expect(client.exports.get('se_1', { timeoutMs })).rejects.toThrow(/^timeoutMs: expected a positive number/);
  });
});
