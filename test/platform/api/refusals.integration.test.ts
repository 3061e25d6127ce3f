import { revokeKey } from '../../../platform/admin/api-keys.ts';
import type { Customer } from '../../helpers/platform-api.ts';
import { type AgentFixture, createPath, jobPath, jobsPath, useAgentApi } from './agent/agent-fixture.ts';
import { createApiClient } from './api-client.ts';

type Endpoint = [method: string, path: string];

const JOBS = '/v1/static-export/jobs';
const NO_EXPORT = `${JOBS}/se_0123456789abcdef`;
const NO_AGENT_JOB = 'aj_0123456789abcdef';

const ofExport = (path: string): Endpoint[] => [
  ['GET', path],
  ['POST', `${path}/cancel`],
  ['POST', `${path}/bundle`],
  ['GET', `${path}/report`],
  ['GET', `${path}/changes`],
];
const ofAgentJob = (path: string): Endpoint[] => [
  ['GET', path],
  ['GET', `${path}/log`],
  ['POST', `${path}/message`],
  ['POST', `${path}/cancel`],
  ['POST', `${path}/archive`],
];
const ofProject = (owner: Customer): Endpoint[] => [
  ['POST', createPath(owner)],
  ['GET', jobsPath(owner)],
];

describe('the Admin API rejects', () => {
  let agents: AgentFixture;
  let customer: Customer;
  useAgentApi((fixture) => {
    ({ agents, customer } = fixture);
  });

  const all = (): Endpoint[] => [
    ['POST', JOBS],
    ['GET', JOBS],
    ...ofExport(NO_EXPORT),
    ...ofProject(customer),
    ...ofAgentJob(jobPath(customer, NO_AGENT_JOB)),
  ];
  const send = (method: string, path: string, options: { key?: string; headers?: Record<string, string> } = {}) =>
    // Invalid JSON, since the body is checked last.
    agents.api.request(method, path, { ...options, raw: method === 'POST' ? '{' : undefined });
  async function startExport({ key, domain }: Customer): Promise<string> {
    const { text } = await agents.api.post(JOBS, { key, body: { domain } });
    return `${JOBS}/${JSON.parse(text).jobId}`;
  }

  it('every request without a key before any other check: 401', async () => {
    for (const [method, path] of all()) {
      const { status, headers } = await send(method, path);
      expect([method, path, status, headers.get('www-authenticate')]).toEqual([method, path, 401, 'Bearer']);
    }
  });

  it('malformed, unknown and revoked keys: 401', async () => {
    await revokeKey(agents.platform.db, customer.keyId);
    const bearers = ['', ' galley_', ' galley_unknown', ` ${customer.key}`].map((key) => `Bearer${key}`);
    for (const authorization of ['Basic abc', customer.key, ...bearers]) {
      const { status, headers } = await send('GET', JOBS, { headers: { authorization } });
      expect([authorization, status]).toEqual([authorization, 401]);
      expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  });

  it("every export endpoint without the Enterprise plan: 403, but 404 for another organization's jobs", async () => {
    const own = await startExport(customer);
    await agents.api.setPlan(customer.organization, 'free');
    const { key, domain } = customer;
    for (const [method, path] of [...ofExport(own), ['GET', JOBS] satisfies Endpoint]) {
      expect([path, (await send(method, path, { key })).status]).toEqual([path, 403]);
    }
    expect((await agents.api.post(JOBS, { key, body: { domain } })).status).toBe(403);
    expect((await send('GET', NO_EXPORT, { key })).status).toBe(404);
  });

  it("projects and jobs that do not exist or are another organization's, for any body: 404", async () => {
    const { key } = customer;
    const other = await agents.addCustomer();
    const otherExport = await startExport(other);
    const otherJob = (await agents.created(other)).id;
    const exports = [NO_EXPORT, otherExport, `${JOBS}/se_x`, `${JOBS}/%00`, `${JOBS}/..%2f`].flatMap(ofExport);
    const projects = [other.project, 'prj_none', '%00', '..%2f'].map((project) => ({ ...customer, project }));
    const ids = [NO_AGENT_JOB, otherJob, 'aj_x', '%00', '..%2f', 'x'.repeat(3_000)];
    const jobs = [...ids.map((id) => jobPath(customer, id)), ...projects.map((each) => jobPath(each, otherJob))];
    for (const [method, path] of [...exports, ...projects.flatMap(ofProject), ...jobs.flatMap(ofAgentJob)]) {
      const { status } = await send(method, path, { key });
      expect([path.slice(0, 80), status]).toEqual([path.slice(0, 80), 404]);
    }
  });

  it("jobs of one project in another project's path, in the same organization: 404", async () => {
    const { organization, domain, project } = customer;
    const second = { ...customer, project: `${project}_second` };
    const repository = 'https://git.example.com/b.git';
    await agents.api.adminPost('/admin/projects', {
      ...{ organization, project: second.project, domain: `b.${domain}`, repository },
    });
    const { id } = await agents.created(second);
    for (const [method, path] of ofAgentJob(jobPath(customer, id))) {
      expect([path, (await send(method, path, { key: customer.key })).status]).toEqual([path, 404]);
    }
    expect((await agents.read(second, id)).status).toBe('active');
  });

  it('other methods: 405 with Allow', async () => {
    const client = createApiClient(agents.platform.baseUrl);
    const known = [...all().filter(([, path]) => path !== JOBS), ['GET', '/healthz'], ['GET', '/openapi.json']];
    const allowed = new Map(known.map(([method, path = '']) => [path, method === 'GET' ? 'GET, HEAD' : 'POST']));
    allowed.set(JOBS, 'GET, HEAD, POST');
    for (const [path, allow] of allowed) {
      const others = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'].filter((each) => !allow.includes(each));
      for (const method of others) {
        const { status, headers } = await client.request(method, path);
        expect([method, path, status, headers.get('allow')]).toEqual([method, path, 405, allow]);
      }
    }
  });

  it.each(['/v1', '/v2/agent', `${JOBS}/`, `${NO_EXPORT}/other`, '/V1/static-export/jobs', '/%ff', `${JOBS}/%E0%A4%A`])(
    'the unknown path %s, with any method: 404',
    async (path) => {
      const client = createApiClient(agents.platform.baseUrl);
      for (const method of ['GET', 'POST', 'DELETE']) expect((await client.request(method, path)).status).toBe(404);
    },
  );
});
