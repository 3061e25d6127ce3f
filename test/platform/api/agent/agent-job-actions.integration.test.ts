import { agentCancellation, agentJobPage, agentJobSchema } from '../../../../contract/admin-api.ts';
import { beginAgentRun } from '../../../../platform/store/agent-job-transitions.ts';
import { type Customer, startTestPlatform } from '../../../helpers/platform-api.ts';
import { createApiClient } from '../api-client.ts';
import { type AgentFixture, jobPath, jobsPath, PULL_REQUEST, useAgentApi } from './agent-fixture.ts';

describe('an agent job', () => {
  let agents: AgentFixture;
  let customer: Customer;
  useAgentApi((fixture) => {
    ({ agents, customer } = fixture);
  });

  const message = (id: string, prompt = 'And this', headers = {}) =>
    agents.act(customer, id, 'message', { prompt }, headers);
  const cancel = async (id: string) => agentCancellation.parse((await agents.act(customer, id, 'cancel')).body);
  const archive = (id: string) => agents.act(customer, id, 'archive');

  async function completedJob(): Promise<string> {
    const { id } = await agents.created(customer);
    await agents.complete(id);
    return id;
  }

  describe('and a follow-up message', () => {
    it('starts the next run of a completed job, which shows its pull request again afterwards', async () => {
      const id = await completedJob();
      expect(await agents.read(customer, id)).toMatchObject({ status: 'completed', prLink: PULL_REQUEST });
      const response = await message(id);
      expect(response.status).toBe(200);
      expect(response.headers.get('ratelimit-limit')).toBe('100');
      expect(response.body).toMatchObject({ id, status: 'active', prLink: null, error: null, archivedAt: null });
      expect(agents.platform.startedRuns).toContainEqual({ jobId: id, run: 2 });
      await agents.complete(id, 2, null);
      expect(await agents.read(customer, id)).toMatchObject({ status: 'completed', prLink: PULL_REQUEST });
    });

    it('is 409 with the status while the job is active or archived', async () => {
      const { id } = await agents.created(customer);
      const early = await message(id);
      expect([early.status, early.error]).toEqual([409, expect.stringContaining('is active')]);
      await agents.complete(id);
      await archive(id);
      const late = await message(id);
      expect([late.status, late.error]).toEqual([409, expect.stringContaining('is archived')]);
      expect(await agents.read(customer, id)).toMatchObject({ status: 'archived' });
    });

    it('is accepted once for an Idempotency-Key, and 422 with another prompt or for another job', async () => {
      const [id, other] = [await completedJob(), await completedJob()];
      const key = { 'idempotency-key': 'follow-up' };
      const first = await message(id, 'And this', key);
      expect((await message(id, 'And this', key)).body).toEqual(first.body);
      await agents.complete(id, 2);
      expect((await message(id, 'And this', key)).body).toEqual(first.body);
      expect((await message(id, 'And that', key)).status).toBe(422);
      expect((await message(other, 'And this', key)).status).toBe(422);
      expect(agents.platform.startedRuns.filter(({ jobId }) => jobId === id)).toHaveLength(2);
    });
  });

  describe('and a cancel request', () => {
    it('fails the job at once if no worker has started it', async () => {
      const { id } = await agents.created(customer);
      expect(await cancel(id)).toMatchObject({ result: 'accepted', job: { status: 'failed', error: 'cancelled' } });
      expect(agents.platform.canceledRuns).toContainEqual({ jobId: id, run: 1 });
      expect(await cancel(id)).toMatchObject({ result: 'already-finished', job: { status: 'failed' } });
      expect(await beginAgentRun(agents.platform.db, { jobId: id, run: 1 })).toBeUndefined();
    });

    it('cancels the current run, and fails the job once the run has stopped', async () => {
      const jobId = await completedJob();
      await message(jobId);
      await beginAgentRun(agents.platform.db, { jobId, run: 2 });
      expect(await cancel(jobId)).toMatchObject({ result: 'accepted', job: { status: 'active', error: null } });
      const canceled = agents.platform.canceledRuns.filter((each) => each.jobId === jobId);
      expect(canceled).toEqual([{ jobId, run: 2 }]);
      await agents.complete(jobId, 2);
      expect(await agents.read(customer, jobId)).toMatchObject({ status: 'failed', error: 'cancelled' });
    });

    it('changes nothing once the job is completed or archived', async () => {
      const id = await completedJob();
      expect(await cancel(id)).toMatchObject({ result: 'already-finished', job: { status: 'completed' } });
      await archive(id);
      expect(await cancel(id)).toMatchObject({ result: 'already-finished', job: { status: 'archived' } });
    });

    it('is accepted even if its workflow cannot be signaled', async () => {
      const failing = await startTestPlatform(agents.database, {
        db: agents.platform.db,
        cancelAgentJob: () => Promise.reject(new Error('Temporal is down')),
      });
      const { id } = await agents.created(customer);
      const path = `${jobPath(customer, id)}/cancel`;
      const response = await createApiClient(failing.baseUrl, agents.check).post(path, { key: customer.key });
      await failing.stop();
      expect(response.body).toMatchObject({ result: 'accepted' });
    });
  });

  describe('and an archive request', () => {
    it('archives a completed or failed job with the time, and changes nothing when repeated', async () => {
      const [completed, { id: failed }] = [await completedJob(), await agents.created(customer)];
      await agents.fail(failed);
      for (const id of [completed, failed]) {
        const before = await agents.read(customer, id);
        const first = await archive(id);
        expect([first.status, first.body]).toEqual([200, expect.objectContaining({ status: 'archived' })]);
        const job = agentJobSchema.parse(first.body);
        expect(job).toEqual({ ...before, status: 'archived', archivedAt: job.updatedAt, updatedAt: job.archivedAt });
        expect((await archive(id)).body).toEqual(first.body);
      }
    });

    it('is 409 while the job is active', async () => {
      const { id } = await agents.created(customer);
      const response = await archive(id);
      expect([response.status, response.error]).toEqual([409, expect.stringContaining('is active')]);
      expect(await agents.read(customer, id)).toMatchObject({ status: 'active', archivedAt: null });
    });
  });

  describe('in the list', () => {
    const list = async (query = '') => {
      const response = await agents.api.get(`${jobsPath(customer)}${query}`, { key: customer.key });
      expect(response.status).toBe(200);
      return agentJobPage.parse(response.body);
    };

    it('comes newest first, page by page, and by status, with only the jobs of its project', async () => {
      const ids: string[] = [];
      for (let index = 0; index < 5; index += 1) ids.unshift((await agents.created(customer)).id);
      await agents.created(await agents.addCustomer());
      await agents.complete(ids[1] ?? '');
      const pages: string[][] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page = await list(`?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
        pages.push(page.jobs.map((job) => job.id));
        cursor = page.nextCursor;
      }
      expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
      expect((await list('?status=completed')).jobs).toEqual([await agents.read(customer, ids[1] ?? '')]);
      expect(await list('?status=archived')).toEqual({ jobs: [], nextCursor: null });
      expect((await list('?limit=5')).nextCursor).toBeNull();
    });

    it.each(['limit=101', 'status=queued', 'cursor=', 'page=2'])('is 400 for the query %s', async (query) => {
      const response = await agents.api.get(`${jobsPath(customer)}?${query}`, { key: customer.key });
      expect([response.status, response.error]).toEqual([400, expect.stringContaining(query.split('=')[0] ?? '')]);
    });
  });
});
