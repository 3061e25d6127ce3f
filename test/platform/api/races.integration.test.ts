import { agentJobSchema, exportJob } from '../../../contract/admin-api.ts';
import { addProject, listProjects } from '../../../platform/admin/projects.ts';
import { beginAgentRun, completeAgentRun } from '../../../platform/store/agent-job-transitions.ts';
import { type Customer, OPERATOR_TOKEN, startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import { createDatabase, type TestDatabase } from '../../helpers/test-database.ts';
import { createPath, jobPath } from './agent/agent-fixture.ts';
import { createApiClient } from './api-client.ts';
import { logUses } from './api-fixture.ts';

const JOBS = '/v1/static-export/jobs';

const times = <Item>(count: number, make: (index: number) => Item) => Array.from({ length: count }, (_, i) => make(i));

describe('two platform servers on one database that get concurrent requests', () => {
  let database: TestDatabase;
  let platforms: [TestPlatform, TestPlatform];
  let customer: Customer;

  beforeAll(async () => {
    database = await createDatabase();
    const first = await startTestPlatform(database);
    platforms = [first, await startTestPlatform(database, { objects: first.objects })];
  });
  beforeEach(async () => {
    customer = await platforms[0].addCustomer();
  });
  afterAll(async () => {
    for (const platform of platforms ?? []) await platform.stop();
    await database?.stop();
  });

  type PostRequest = { path: string; body?: unknown; headers?: Record<string, string> };

  const client = (index: number) => createApiClient(platforms[index % 2 === 0 ? 0 : 1].baseUrl);
  /** Sends all requests concurrently, alternating between the two servers. */
  const sendConcurrently = (requests: readonly PostRequest[]) =>
    Promise.all(requests.map(({ path, ...rest }, index) => client(index).post(path, { key: customer.key, ...rest })));
  const statuses = (responses: { status: number }[]) => responses.map(({ status }) => status).sort();
  const start = (headers = {}): PostRequest => ({ path: JOBS, body: { domain: customer.domain }, headers });
  const create = (headers = {}): PostRequest => ({ path: createPath(customer), body: { prompt: 'Do it' }, headers });

  it('create one job for 20 starts with one Idempotency-Key, and respond to each with that job', async () => {
    const responses = await sendConcurrently(times(20, () => start({ 'idempotency-key': 'once' })));
    expect(statuses(responses)).toEqual(times(20, () => 202));
    const ids = new Set(responses.map(({ body }) => exportJob.parse(body).jobId));
    expect(ids.size).toBe(1);
    expect(platforms.flatMap(({ started }) => started).filter((id) => ids.has(id))).toEqual([...ids]);
  });

  it('create one agent job for 20 creates with one Idempotency-Key, and respond to each with that job', async () => {
    const responses = await sendConcurrently(times(20, () => create({ 'idempotency-key': 'once' })));
    expect(statuses(responses)).toEqual(times(20, () => 201));
    const ids = new Set(responses.map(({ body }) => agentJobSchema.parse(body).id));
    expect(ids.size).toBe(1);
    expect(platforms.flatMap(({ startedRuns }) => startedRuns).filter(({ jobId }) => ids.has(jobId))).toHaveLength(1);
  });

  it('accept one of several different requests with one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'of-which' };
    const [made] = await sendConcurrently([create()]);
    const { id: jobId } = agentJobSchema.parse(made?.body);
    await beginAgentRun(platforms[0].db, { jobId, run: 1 });
    await completeAgentRun(platforms[0].db, { jobId, run: 1, prLink: null });
    const responses = await sendConcurrently([
      { path: createPath(customer), body: { prompt: 'a' }, headers },
      { path: createPath(customer), body: { prompt: 'b' }, headers },
      { path: `${jobPath(customer, jobId)}/message`, body: { prompt: 'c' }, headers },
      start(headers),
    ]);
    expect(responses.filter(({ status }) => status < 300)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 422)).toHaveLength(3);
  });

  it('accept one of 20 starts of one domain, and reject the others with its id', async () => {
    const responses = await sendConcurrently(times(20, (index) => start({ 'idempotency-key': `try-${index}` })));
    const [accepted, ...more] = responses.filter(({ status }) => status === 202);
    expect(more).toEqual([]);
    const { jobId } = exportJob.parse(accepted?.body);
    const refused = responses.filter(({ status }) => status === 409);
    expect(refused).toHaveLength(19);
    for (const { error } of refused) expect(error).toContain(jobId);
  });

  const setProject = (index: number, body: object) =>
    client(index).request('PATCH', '/admin/projects', { key: OPERATOR_TOKEN, body });

  it('give a domain to one of 10 projects, and reject the others', async () => {
    const ids = times(10, (index) => `${customer.project}_${index}`);
    for (const [index, project] of ids.entries()) {
      const { organization } = customer;
      await addProject(platforms[0].db, { organization, project, domain: `race-${index}.example.com` });
    }
    const changes = ids.map((project, index) => setProject(index, { project, domain: 'contested.example.com' }));
    expect(statuses(await Promise.all(changes))).toEqual([200, ...times(9, () => 409)]);
  });

  it('lose none of several concurrent changes of one project', async () => {
    const { project } = customer;
    const changes = [{ scripts: 'strip' }, { external: 'keep' }, { webhookSecret: 'hush' }];
    for (let round = 0; round < 5; round += 1) {
      await setProject(0, { project, settings: { scripts: 'auto', external: 'bundle', webhookSecret: null } });
      await Promise.all(changes.map((settings, index) => setProject(index, { project, settings })));
      const listed = (await listProjects(platforms[0].db)).find((each) => each.project === project);
      expect(listed?.settings).toMatchObject({ scripts: 'strip', external: 'keep', webhookSecretSet: true });
    }
  });

  it('give the last free start of the hour to one of two projects', async () => {
    const { organization, key, project } = customer;
    const domain = `second.${customer.domain}`;
    await addProject(platforms[0].db, { organization, project: `${project}_second`, domain });
    await logUses(platforms[0], customer, { of: 'starts', count: 59 });
    const responses = await Promise.all(
      [customer.domain, domain].map((each, index) => client(index).post(JOBS, { key, body: { domain: each } })),
    );
    expect(statuses(responses)).toEqual([202, 429]);
  });

  it('accept four more prompts together if four are left in the hour, and both reject the next one', async () => {
    await logUses(platforms[0], customer, { of: 'prompts', count: 96 });
    expect(statuses(await sendConcurrently(times(10, () => create())))).toEqual([
      ...times(4, () => 201),
      ...times(6, () => 429),
    ]);
    for (const refused of await sendConcurrently(times(2, () => create()))) {
      expect([refused.status, refused.headers.get('ratelimit-remaining')]).toEqual([429, '0']);
    }
  });
});
