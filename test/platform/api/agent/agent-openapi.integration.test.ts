import { z } from 'zod';
import { type AgentBench, createPath, jobPath, jobsPath, startAgentBench } from './agent-bench.ts';

const NOBODYS = 'aj_0123456789abcdef';

const operation = z.looseObject({
  operationId: z.string(),
  responses: z.record(
    z.string(),
    z.looseObject({ links: z.record(z.string(), z.looseObject({ operationId: z.string() })).optional() }),
  ),
});
const described = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) });

/** Each request is held against the document; what is asked here is whether the document says too much. */
describe('the OpenAPI document of the agent endpoints', () => {
  let bench: AgentBench;

  beforeAll(async () => {
    bench = await startAgentBench();
  });
  afterAll(async () => {
    await bench?.stop();
  });

  it('foresees no answer that is never given, but the faults', async () => {
    const customer = await bench.addCustomer();
    const { key } = customer;
    const { id } = await bench.created(customer);
    const prompts = [createPath(customer), `${jobPath(customer, id)}/message`];
    const json = { 'content-type': 'application/json' };
    const key422 = { 'idempotency-key': 'a' };
    await bench.create(customer, { prompt: 'Do it' }, key422);
    await bench.act(customer, id, 'message', { prompt: 'And this' });
    await bench.act(customer, id, 'archive');
    await bench.act(customer, id, 'cancel');
    for (const path of prompts) {
      await bench.api.post(path, { key, raw: '{', headers: json });
      await bench.api.post(path, { key, raw: '{}', headers: { 'content-type': 'text/plain' } });
      await bench.api.post(path, { key, raw: ' '.repeat(1024 * 1024 + 1), headers: json });
      await bench.api.post(path, { key, body: { prompt: 'other' }, headers: key422 });
    }
    const gets = [jobsPath(customer), jobPath(customer, id), `${jobPath(customer, id)}/log`];
    for (const path of gets) await bench.api.get(path, { key });
    await bench.api.get(`${jobsPath(customer)}?limit=0`, { key });
    const posts = [...prompts, `${jobPath(customer, id)}/cancel`, `${jobPath(customer, id)}/archive`];
    for (const path of [...gets, ...posts]) {
      const method = gets.includes(path) ? 'GET' : 'POST';
      await bench.api.request(method, path);
      const nowhere = path.replace(id, NOBODYS).replace(/prj_\w+(?=\/jobs?$)/, 'prj_nobodys');
      await bench.api.request(method, nowhere, { key });
    }
    const ended = (await bench.created(customer)).id;
    await bench.complete(ended);
    while ((await bench.create(customer)).status === 201);
    await bench.act(customer, ended, 'message', { prompt: 'And this' });
    bench.platform.advance(3_600_000);
    await bench.act(customer, ended, 'message', { prompt: 'And this' });
    await bench.complete(ended, 2);
    await bench.act(customer, ended, 'archive');
    const missing = [...bench.check.foreseen].filter((each) => !bench.check.seen.has(each) && !/ 50[03]$/.test(each));
    expect(missing).toEqual([]);
  });

  it('leads from a new job to whatever can be done with it next', async () => {
    const document: unknown = await (await fetch(`${bench.platform.baseUrl}/openapi.json`)).json();
    const { paths } = described.parse(document);
    const links = paths['/v2/agent/{projectId}/job']?.post?.responses['201']?.links ?? {};
    const known = Object.values(paths).flatMap((methods) => Object.values(methods).map((each) => each.operationId));
    for (const { operationId } of Object.values(links)) expect(known).toContain(operationId);
    expect(Object.keys(links)).toHaveLength(5);
  });
});
