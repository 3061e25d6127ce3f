import { agentCancellation, agentJob, agentJobPage } from '../../../../contract/admin-api.ts';
import { beginAgentRun } from '../../../../platform/store/agent-job-transitions.ts';
import { type Customer, startTestPlatform } from '../../../helpers/platform-api.ts';
import { createApiClient } from '../api-client.ts';
import { type AgentFixture, jobPath, jobsPath, PULL_REQUEST, useAgentApi } from './agent-fixture.ts';

describe('an agent job', () => {
  let agents: AgentFixture;
  let customer: Customer;
  useAgentApi((given) => {
    ({ agents, customer } = given);
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

  describe('takes a follow-up message', () => {
    it('once it has completed: it is active again, as its next run, and its pull request comes back', async () => {
      const id = await completedJob();
      expect(await agents.read(customer, id)).toMatchObject({ status: 'completed', prLink: PULL_REQUEST });
      const answer = await message(id);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('ratelimit-limit')).toBe('100');
      expect(answer.body).toMatchObject({ id, status: 'active', prLink: null, error: null, archivedAt: null });
      expect(agents.platform.startedRuns).toContainEqual({ jobId: id, run: 2 });
      await agents.complete(id, 2, null);
      expect(await agents.read(customer, id)).toMatchObject({ status: 'completed', prLink: PULL_REQUEST });
    });

    it('not while it is active, nor once it is archived: 409 says which', async () => {
      const { id } = await agents.created(customer);
      const early = await message(id);
      expect([early.status, early.error]).toEqual([409, expect.stringContaining('is active')]);
      await agents.complete(id);
      await archive(id);
      const late = await message(id);
      expect([late.status, late.error]).toEqual([409, expect.stringContaining('is archived')]);
      expect(await agents.read(customer, id)).toMatchObject({ status: 'archived' });
    });

    it('once for one Idempotency-Key, which is 422 with another prompt or for another job', async () => {
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

  describe('is cancelled', () => {
    it('at once while no worker has begun it', async () => {
      const { id } = await agents.created(customer);
      expect(await cancel(id)).toMatchObject({ result: 'accepted', job: { status: 'failed', error: 'cancelled' } });
      expect(agents.platform.cancelledRuns).toContainEqual({ jobId: id, run: 1 });
      expect(await cancel(id)).toMatchObject({ result: 'already-finished', job: { status: 'failed' } });
      expect(await beginAgentRun(agents.platform.db, { jobId: id, run: 1 })).toBeUndefined();
    });

    it('in the run that is current, once its work has stopped', async () => {
      const jobId = await completedJob();
      await message(jobId);
      await beginAgentRun(agents.platform.db, { jobId, run: 2 });
      expect(await cancel(jobId)).toMatchObject({ result: 'accepted', job: { status: 'active', error: null } });
      const cancelled = agents.platform.cancelledRuns.filter((each) => each.jobId === jobId);
      expect(cancelled).toEqual([{ jobId, run: 2 }]);
      await agents.complete(jobId, 2);
      expect(await agents.read(customer, jobId)).toMatchObject({ status: 'failed', error: 'cancelled' });
    });

    it('not once it is completed or archived', async () => {
      const id = await completedJob();
      expect(await cancel(id)).toMatchObject({ result: 'already-finished', job: { status: 'completed' } });
      await archive(id);
      expect(await cancel(id)).toMatchObject({ result: 'already-finished', job: { status: 'archived' } });
    });

    it('even if its workflow cannot be signaled now', async () => {
      const failing = await startTestPlatform(agents.database, {
        db: agents.platform.db,
        cancelAgentJob: () => Promise.reject(new Error('Temporal is away')),
      });
      const { id } = await agents.created(customer);
      const path = `${jobPath(customer, id)}/cancel`;
      const answer = await createApiClient(failing.baseUrl, agents.check).post(path, { key: customer.key });
      await failing.stop();
      expect(answer.body).toMatchObject({ result: 'accepted' });
    });
  });

  describe('is archived', () => {
    it('once it has completed or failed, with its time, and again unchanged', async () => {
      const [completed, { id: failed }] = [await completedJob(), await agents.created(customer)];
      await agents.fail(failed);
      for (const id of [completed, failed]) {
        const before = await agents.read(customer, id);
        const first = await archive(id);
        expect([first.status, first.body]).toEqual([200, expect.objectContaining({ status: 'archived' })]);
        const job = agentJob.parse(first.body);
        expect(job).toEqual({ ...before, status: 'archived', archivedAt: job.updatedAt, updatedAt: job.archivedAt });
        expect((await archive(id)).body).toEqual(first.body);
      }
    });

    it('not while it is active: 409', async () => {
      const { id } = await agents.created(customer);
      const answer = await archive(id);
      expect([answer.status, answer.error]).toEqual([409, expect.stringContaining('is active')]);
      expect(await agents.read(customer, id)).toMatchObject({ status: 'active', archivedAt: null });
    });
  });

  describe('is listed', () => {
    const list = async (query = '') => {
      const answer = await agents.api.get(`${jobsPath(customer)}${query}`, { key: customer.key });
      expect(answer.status).toBe(200);
      return agentJobPage.parse(answer.body);
    };

    it('newest first, page by page, and by status, with the jobs of its project only', async () => {
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

    it.each(['limit=101', 'status=queued', 'cursor=', 'page=2'])('not for the query %s: 400', async (query) => {
      const answer = await agents.api.get(`${jobsPath(customer)}?${query}`, { key: customer.key });
      expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(query.split('=')[0] ?? '')]);
    });
  });
});
