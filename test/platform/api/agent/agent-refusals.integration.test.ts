import pino from 'pino';
import { revokeKey } from '../../../../platform/admin/api-keys.ts';
import { connectDatabase } from '../../../../platform/store/database.ts';
import { type Customer, startTestPlatform } from '../../../helpers/platform-api.ts';
import { createApiClient } from '../api-client.ts';
import { type AgentBench, createPath, jobPath, jobsPath, useAgentBench } from './agent-bench.ts';

const NOBODYS = 'aj_0123456789abcdef';
const PROMPTS_PER_HOUR = 100;

describe('the agent endpoints refuse', () => {
  let bench: AgentBench;
  let customer: Customer;
  useAgentBench((given) => {
    ({ bench, customer } = given);
  });

  const ofJob = (path: string): [string, string][] => [
    ['GET', path],
    ['GET', `${path}/log`],
    ['POST', `${path}/message`],
    ['POST', `${path}/cancel`],
    ['POST', `${path}/archive`],
  ];
  const ofProject = (owner: Customer): [string, string][] => [
    ['POST', createPath(owner)],
    ['GET', jobsPath(owner)],
  ];
  const all = (id = NOBODYS) => [...ofProject(customer), ...ofJob(jobPath(customer, id))];
  const isPrompt = (method: string, path: string) => method === 'POST' && !/\/(cancel|archive)$/.test(path);
  const body = (method: string, path: string) => (isPrompt(method, path) ? { body: { prompt: 'Do it' } } : {});

  it('every request without a good key, before anything else is looked at: 401', async () => {
    await revokeKey(bench.platform.db, customer.keyId);
    const lame = ['Basic abc', 'Bearer', 'Bearer galley_', 'Bearer galley_unknown', `Bearer ${customer.key}`];
    for (const [method, path] of all()) {
      for (const authorization of [undefined, ...lame]) {
        const answer = await bench.api.request(method, path, {
          raw: method === 'POST' ? '{' : undefined,
          headers: authorization === undefined ? {} : { authorization },
        });
        expect([path, authorization, answer.status]).toEqual([path, authorization, 401]);
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
      }
    }
  });

  it("a project that is nobody's or another organization's, whatever the body: 404", async () => {
    const other = await bench.addCustomer();
    for (const project of [other.project, 'prj_nobodys', '%00', '..%2f']) {
      for (const [method, path] of [
        ...ofProject({ ...customer, project }),
        ...ofJob(jobPath({ ...customer, project }, NOBODYS)),
      ]) {
        const raw = method === 'POST' ? '{' : undefined;
        expect([path, (await bench.api.request(method, path, { key: customer.key, raw })).status]).toEqual([path, 404]);
      }
    }
  });

  it("a job that is nobody's, another organization's or another project's of the same one: 404", async () => {
    const other = await bench.addCustomer();
    const theirs = (await bench.created(other)).id;
    const { organization, domain } = customer;
    const sibling = { ...customer, project: `${customer.project}_second` };
    const repository = 'https://git.example.com/b.git';
    const second = { organization, project: sibling.project, domain: `b.${domain}`, repository };
    await bench.api.adminPost('/admin/projects', second);
    const siblings = (await bench.created(sibling)).id;
    for (const id of [NOBODYS, theirs, siblings, 'aj_x', '%00', '..%2f', 'x'.repeat(3000)]) {
      for (const [method, path] of ofJob(jobPath(customer, id))) {
        const answer = await bench.api.request(method, path, { key: customer.key, ...body(method, path) });
        expect([path.slice(0, 80), answer.status]).toEqual([path.slice(0, 80), 404]);
      }
    }
    expect((await bench.read(sibling, siblings)).status).toBe('active');
  });

  it('other methods: 405 with Allow', async () => {
    for (const [method, path] of all()) {
      const allow = method === 'GET' ? 'GET, HEAD' : 'POST';
      for (const other of ['PUT', 'DELETE', 'PATCH', method === 'GET' ? 'POST' : 'GET']) {
        const response = await fetch(bench.platform.baseUrl + path, { method: other });
        expect([other, path, response.status, response.headers.get('allow')]).toEqual([other, path, 405, allow]);
        expect(await response.json()).toEqual({ error: expect.any(String) });
      }
    }
  });

  it('everything with 503 and Retry-After while the database is away, and only then', async () => {
    const logger = pino({ level: 'silent' });
    const db = connectDatabase({ url: 'postgres://nobody@127.0.0.1:9/none', logger, connectTimeoutMs: 1000 });
    const away = await startTestPlatform(bench.database, { db, logger });
    const client = createApiClient(away.baseUrl, bench.check);
    for (const [method, path] of all()) {
      const answer = await client.request(method, path, { key: customer.key, ...body(method, path) });
      expect([path, answer.status]).toEqual([path, 503]);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await away.stop();
    await db.close();
  });

  describe('what is wrong in more than one way for', () => {
    const known = { 'idempotency-key': 'known' };

    it('its body before its Idempotency-Key', async () => {
      await bench.create(customer, { prompt: 'Do it' }, known);
      expect((await bench.create(customer, { prompt: 5 }, known)).status).toBe(400);
      expect((await bench.create(customer, { prompt: 'Do that' }, known)).status).toBe(422);
    });

    it('its Idempotency-Key before a conflict', async () => {
      const { id } = await bench.created(customer);
      await bench.create(customer, { prompt: 'Do it' }, known);
      expect((await bench.act(customer, id, 'message', { prompt: 'Do it' }, known)).status).toBe(422);
      expect((await bench.act(customer, id, 'message', { prompt: 'Do it' })).status).toBe(409);
    });

    it('a conflict before the limit, and nothing where its Idempotency-Key was answered once', async () => {
      const first = await bench.create(customer, { prompt: 'Do it' }, known);
      for (let use = 2; use < PROMPTS_PER_HOUR; use += 1) await bench.created(customer);
      const { id } = await bench.created(customer);
      const message = async () => (await bench.act(customer, id, 'message', { prompt: 'And this' })).status;
      expect(await message()).toBe(409);
      await bench.complete(id);
      expect(await message()).toBe(429);
      expect((await bench.create(customer)).status).toBe(429);
      expect((await bench.create(customer, { prompt: 5 })).status).toBe(400);
      const again = await bench.create(customer, { prompt: 'Do it' }, known);
      expect([again.status, again.body]).toEqual([201, first.body]);
    });
  });
});
