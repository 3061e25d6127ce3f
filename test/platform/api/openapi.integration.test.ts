import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { exportJob, projectExportJob } from '../../../contract/admin-api.ts';
import { createKey } from '../../../platform/admin/api-keys.ts';
import { buildBundle } from '../../deployment/bundles.ts';
import type { Customer } from '../../helpers/platform-api.ts';
import { type AgentFixture, createPath, jobPath, jobsPath, useAgentApi } from './agent/agent-fixture.ts';
import { logUses } from './api-fixture.ts';

const JOBS = '/v1/static-export/jobs';
const JSON_TYPE = { 'content-type': 'application/json' };

const operation = z.looseObject({
  operationId: z.string(),
  responses: z.record(
    z.string(),
    z.looseObject({ links: z.record(z.string(), z.looseObject({ operationId: z.string() })).optional() }),
  ),
});
const described = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) });

describe('the OpenAPI document', () => {
  let agents: AgentFixture;
  let customer: Customer;
  useAgentApi((fixture) => {
    ({ agents, customer } = fixture);
  });

  /** Sends the bodies that every endpoint with a body rejects. */
  async function sendInvalidBodies(path: string, wrong: object): Promise<void> {
    const { key } = customer;
    await agents.api.post(path, { key, raw: '{}', headers: { 'content-type': 'text/plain' } });
    await agents.api.post(path, { key, raw: ' '.repeat(1024 * 1024 + 1), headers: JSON_TYPE });
    await agents.api.post(path, { key, body: wrong });
  }

  async function walkExports(): Promise<void> {
    const { key, domain } = customer;
    const once = { 'idempotency-key': 'export' };
    const { jobId } = exportJob.parse((await agents.api.post(JOBS, { key, body: { domain }, headers: once })).body);
    await sendInvalidBodies(JOBS, { domain, paths: 5 });
    await agents.api.post(JOBS, { key, body: { domain, version: 'other' }, headers: once });
    await agents.api.post(JOBS, { key, body: { domain } });
    await agents.api.post(JOBS, { key, body: { domain: 'nobody.example.com' } });
    await agents.api.get(`${JOBS}?limit=0`, { key });
    const endpoints = (job: string) => [
      ...['', '/report', '/changes'].map((rest) => ['GET', `${JOBS}/${job}${rest}`] as const),
      ...['/bundle', '/preview', '/cancel'].map((rest) => ['POST', `${JOBS}/${job}${rest}`] as const),
    ];
    const own = [...endpoints(jobId), ['GET', JOBS] as const];
    for (const result of ['report', 'changes']) await agents.api.get(`${JOBS}/${jobId}/${result}`, { key });
    for (const made of ['bundle', 'preview']) await agents.api.post(`${JOBS}/${jobId}/${made}`, { key });
    await agents.platform.complete(jobId, await buildBundle({ files: { 'index.html': 'home' }, jobId }));
    await logUses(agents.platform, customer, { of: 'starts', count: 60 });
    await agents.api.post(JOBS, { key, body: { domain } });
    for (const [method, path] of own) await agents.api.request(method, path, { key });
    await agents.platform.db.execute(sql`update export_jobs set expired_at = now() where id = ${jobId}`);
    for (const [method, path] of own) await agents.api.request(method, path, { key });
    for (const [method, path] of [...own, ['POST', JOBS] as const]) await agents.api.request(method, path);
    for (const [method, path] of endpoints('se_0123456789abcdef')) await agents.api.request(method, path, { key });
    await agents.api.setPlan(customer.organization, 'free');
    for (const [method, path] of own) await agents.api.request(method, path, { key });
    await agents.api.post(JOBS, { key, body: { domain } });
  }

  /** The same jobs by project; after `walkExports`, the plan is free. */
  async function walkProjectExports(): Promise<void> {
    const { key, project, organization } = customer;
    const jobs = `/v1/static-export/${project}/jobs`;
    const once = { 'idempotency-key': 'project-export' };
    await agents.api.post(jobs, { key });
    await agents.api.setPlan(organization, 'enterprise');
    agents.platform.advance(2 * 3_600_000);
    const { jobId } = projectExportJob.parse((await agents.api.post(jobs, { key, headers: once })).body);
    await sendInvalidBodies(jobs, { basePath: '/elsewhere' });
    await agents.api.post(jobs, { key, body: { basePath: '/docs' }, headers: once });
    await agents.api.post(jobs, { key });
    await agents.platform.complete(jobId, await buildBundle({ files: { 'index.html': 'home' }, jobId }));
    await logUses(agents.platform, customer, { of: 'starts', count: 10 });
    await agents.api.post(jobs, { key });
    await agents.api.post('/v1/static-export/prj_none/jobs', { key });
    await agents.api.post(jobs, {});
    await agents.api.get(`${jobs}/${jobId}`, { key });
    await agents.api.get(`${jobs}/${jobId}`);
    await agents.api.get(`${jobs}/se_0123456789abcdef`, { key });
    await agents.api.setPlan(organization, 'free');
    await agents.api.get(`${jobs}/${jobId}`, { key });
  }

  async function walkAgentJobs(): Promise<void> {
    const { key } = customer;
    const once = { 'idempotency-key': 'prompt' };
    const { id } = await agents.created(customer);
    const prompts = [createPath(customer), `${jobPath(customer, id)}/message`];
    await agents.create(customer, { prompt: 'Do it' }, once);
    for (const action of ['message', 'archive', 'cancel']) await agents.act(customer, id, action, { prompt: 'More' });
    for (const path of prompts) {
      await sendInvalidBodies(path, { prompt: 5 });
      await agents.api.post(path, { key, body: { prompt: 'other' }, headers: once });
    }
    await agents.api.get(`${jobsPath(customer)}?limit=0`, { key });
    const gets = [jobsPath(customer), jobPath(customer, id), `${jobPath(customer, id)}/log`];
    for (const path of gets) await agents.api.get(path, { key });
    const posts = [...prompts, `${jobPath(customer, id)}/cancel`, `${jobPath(customer, id)}/archive`];
    for (const path of [...gets, ...posts]) {
      const method = gets.includes(path) ? 'GET' : 'POST';
      await agents.api.request(method, path);
      const nowhere = path.replace(id, 'aj_0123456789abcdef').replace(/prj_\w+(?=\/jobs?$)/, 'prj_none');
      await agents.api.request(method, nowhere, { key });
    }
    const { key: reading } = await createKey(agents.platform.db, {
      organization: customer.organization,
      scope: 'read',
    });
    for (const path of posts) await agents.api.post(path, { key: reading });
    const ended = (await agents.created(customer)).id;
    await agents.complete(ended);
    await agents.act(customer, ended, 'message', { prompt: 'More' });
    await agents.complete(ended, 2);
    await logUses(agents.platform, customer, { of: 'prompts', count: 100 });
    await agents.create(customer);
    await agents.act(customer, ended, 'message', { prompt: 'More' });
    await agents.act(customer, ended, 'archive');
  }

  it('describes every response that occurs, and no others except 500 and 503', async () => {
    await walkAgentJobs();
    await walkExports();
    await walkProjectExports();
    const { foreseen, seen } = agents.check;
    expect([...foreseen].filter((each) => !seen.has(each) && !/ 50[03]$/.test(each))).toEqual([]);
  });

  it('is OpenAPI 3.1, names the public URL, and links from a new agent job to its operations', async () => {
    const { body } = await agents.api.get('/openapi.json');
    expect(body).toMatchObject({
      openapi: '3.1.0',
      info: { version: '2.0.0' },
      servers: [{ url: agents.platform.baseUrl }],
    });
    const { paths } = described.parse(body);
    const links = paths['/v2/agent/{projectId}/job']?.post?.responses['201']?.links ?? {};
    const known = Object.values(paths).flatMap((methods) => Object.values(methods).map((each) => each.operationId));
    for (const { operationId } of Object.values(links)) expect(known).toContain(operationId);
    expect(Object.keys(links)).toHaveLength(5);
  });

  it('can be read at /docs without scripts and external resources, as one small page', async () => {
    const { baseUrl } = agents.platform;
    const page = await fetch(`${baseUrl}/docs`);
    expect(page.url).toBe(`${baseUrl}/docs/`);
    const html = await page.text();
    expect(html).not.toMatch(/<script|(?:src|href)="https?:/);
    let bytes = html.length;
    const assets = [...html.matchAll(/<link[^>]* href="([^"]+)"/g)].map(([, asset = '']) => asset);
    for (const asset of assets) {
      const response = await fetch(new URL(asset, page.url));
      expect([asset, response.status]).toEqual([asset, 200]);
      bytes += (await response.arrayBuffer()).byteLength;
    }
    expect([assets.length, bytes < 300_000]).toEqual([2, true]);
    const { paths } = described.parse((await agents.api.get('/openapi.json')).body);
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map((each) => each.operationId));
    expect([...html.matchAll(/<section class="panel" id="(\w+)"/g)].map(([, id]) => id)).toEqual(ids);
    expect(html).toContain(`curl --request POST '${baseUrl}/v2/agent/{projectId}/job'`);
  });
});
