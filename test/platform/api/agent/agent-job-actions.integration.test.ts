import { agentCancellation, agentJob, agentJobPage } from '../../../../contract/admin-api.ts';
import { beginAgentRun, completeAgentRun, failAgentRun } from '../../../../platform/store/agent-job-transitions.ts';
import { getAgentRun } from '../../../../platform/store/agent-runs.ts';
import { type Customer, startTestPlatform } from '../../../helpers/platform-api.ts';
import { createApiClient } from '../api-client.ts';
import { type AgentBench, jobPath, jobsPath, PULL_REQUEST, useAgentBench } from './agent-bench.ts';

describe('an agent job', () => {
  let bench: AgentBench;
  let customer: Customer;
  useAgentBench((given) => {
    ({ bench, customer } = given);
  });

  const message = (id: string, prompt = 'And this', headers = {}) =>
    bench.act(customer, id, 'message', { prompt }, headers);
  const cancel = async (id: string) => agentCancellation.parse((await bench.act(customer, id, 'cancel')).body);
  const archive = (id: string) => bench.act(customer, id, 'archive');

  async function completedJob(): Promise<string> {
    const { id } = await bench.created(customer);
    await bench.complete(id);
    return id;
  }

  describe('takes a follow-up message', () => {
    it('once it has completed: it is active again, as its next run, and its pull request comes back', async () => {
      const id = await completedJob();
      expect(await bench.read(customer, id)).toMatchObject({ status: 'completed', prLink: PULL_REQUEST });
      const answer = await message(id);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('ratelimit-limit')).toBe('100');
      expect(answer.body).toMatchObject({ id, status: 'active', prLink: null, error: null, archivedAt: null });
      expect(bench.platform.startedRuns).toContainEqual({ jobId: id, run: 2 });
      await bench.complete(id, 2, null);
      expect(await bench.read(customer, id)).toMatchObject({ status: 'completed', prLink: PULL_REQUEST });
    });

    it('once it has failed: the error is gone', async () => {
      const { id } = await bench.created(customer);
      await bench.fail(id);
      expect(await bench.read(customer, id)).toMatchObject({
        status: 'failed',
        error: 'The agent ended with exit code 1',
      });
      expect((await message(id)).body).toMatchObject({ status: 'active', error: null });
    });

    it('with any text, kept to the last code unit', async () => {
      const id = await completedJob();
      const prompt = 'NUL \u0000, half \ud800, עברית \u202e';
      await message(id, prompt);
      expect((await getAgentRun(bench.platform.db, { jobId: id, run: 2 }))?.prompt).toBe(prompt);
    });

    it('not while it is active, nor once it is archived: 409 says which', async () => {
      const { id } = await bench.created(customer);
      const early = await message(id);
      expect([early.status, early.error]).toEqual([409, expect.stringContaining('is active')]);
      await bench.complete(id);
      await archive(id);
      const late = await message(id);
      expect([late.status, late.error]).toEqual([409, expect.stringContaining('is archived')]);
      expect(await bench.read(customer, id)).toMatchObject({ status: 'archived' });
    });

    it('once for one Idempotency-Key, which is 422 with another prompt or for another job', async () => {
      const [id, other] = [await completedJob(), await completedJob()];
      const key = { 'idempotency-key': 'follow-up' };
      const first = await message(id, 'And this', key);
      expect((await message(id, 'And this', key)).body).toEqual(first.body);
      await bench.complete(id, 2);
      expect((await message(id, 'And this', key)).body).toEqual(first.body);
      expect((await message(id, 'And that', key)).status).toBe(422);
      expect((await message(other, 'And this', key)).status).toBe(422);
      expect(bench.platform.startedRuns.filter(({ jobId }) => jobId === id)).toHaveLength(2);
    });

    it('not with a wrong body', async () => {
      const id = await completedJob();
      for (const body of [{}, { prompt: '' }, { prompt: 'x'.repeat(100_001) }, { prompt: 'a', more: 1 }, 5]) {
        expect((await bench.act(customer, id, 'message', body)).status).toBe(400);
      }
      const path = `${jobPath(customer, id)}/message`;
      const type = { 'content-type': 'text/plain' };
      expect((await bench.api.post(path, { key: customer.key, raw: '{"prompt":"a"}', headers: type })).status).toBe(
        415,
      );
      const raw = '{"prompt":"a"}'.padEnd(1024 * 1024 + 1, ' ');
      const headers = { 'content-type': 'application/json' };
      expect((await bench.api.post(path, { key: customer.key, raw, headers })).status).toBe(413);
      expect(await bench.read(customer, id)).toMatchObject({ status: 'completed' });
    });
  });

  describe('is cancelled', () => {
    it('at once while no worker has begun it', async () => {
      const { id } = await bench.created(customer);
      expect(await cancel(id)).toMatchObject({ result: 'accepted', job: { status: 'failed', error: 'cancelled' } });
      expect(bench.platform.cancelledRuns).toContainEqual({ jobId: id, run: 1 });
      expect(await cancel(id)).toMatchObject({ result: 'already-finished', job: { status: 'failed' } });
      expect(await beginAgentRun(bench.platform.db, { jobId: id, run: 1 })).toBeUndefined();
    });

    it('once its work has stopped, however that ended', async () => {
      const { id: jobId } = await bench.created(customer);
      await beginAgentRun(bench.platform.db, { jobId, run: 1 });
      expect(await cancel(jobId)).toMatchObject({ result: 'accepted', job: { status: 'active', error: null } });
      expect(await cancel(jobId)).toMatchObject({ result: 'accepted' });
      await completeAgentRun(bench.platform.db, { jobId, run: 1, prLink: PULL_REQUEST });
      expect(await bench.read(customer, jobId)).toMatchObject({
        status: 'failed',
        error: 'cancelled',
        prLink: PULL_REQUEST,
      });
    });

    it('in the run that is current, and only there', async () => {
      const id = await completedJob();
      await message(id);
      await beginAgentRun(bench.platform.db, { jobId: id, run: 2 });
      await cancel(id);
      expect(bench.platform.cancelledRuns.filter(({ jobId }) => jobId === id)).toEqual([{ jobId: id, run: 2 }]);
      await failAgentRun(bench.platform.db, { jobId: id, run: 2, error: 'killed' });
      expect(await bench.read(customer, id)).toMatchObject({ error: 'cancelled', prLink: PULL_REQUEST });
      await message(id);
      await bench.complete(id, 3);
      expect(await bench.read(customer, id)).toMatchObject({ status: 'completed', error: null });
    });

    it('not once it is completed or archived', async () => {
      const id = await completedJob();
      expect(await cancel(id)).toMatchObject({ result: 'already-finished', job: { status: 'completed' } });
      await archive(id);
      expect(await cancel(id)).toMatchObject({ result: 'already-finished', job: { status: 'archived' } });
    });

    it('also when its workflow cannot be told now', async () => {
      const lame = await startTestPlatform(bench.database, {
        db: bench.platform.db,
        cancelAgentJob: () => Promise.reject(new Error('Temporal is away')),
      });
      const { id } = await bench.created(customer);
      const path = `${jobPath(customer, id)}/cancel`;
      const answer = await createApiClient(lame.baseUrl, bench.check).post(path, { key: customer.key });
      await lame.stop();
      expect(answer.body).toMatchObject({ result: 'accepted' });
    });
  });

  describe('is archived', () => {
    it('once it has completed or failed, with its time, and again unchanged', async () => {
      const [completed, { id: failed }] = [await completedJob(), await bench.created(customer)];
      await bench.fail(failed);
      for (const id of [completed, failed]) {
        const before = await bench.read(customer, id);
        const first = await archive(id);
        expect([first.status, first.body]).toEqual([200, expect.objectContaining({ status: 'archived' })]);
        const job = agentJob.parse(first.body);
        expect(job).toEqual({ ...before, status: 'archived', archivedAt: job.updatedAt, updatedAt: job.archivedAt });
        expect((await archive(id)).body).toEqual(first.body);
      }
    });

    it('not while it is active: 409', async () => {
      const { id } = await bench.created(customer);
      const answer = await archive(id);
      expect([answer.status, answer.error]).toEqual([409, expect.stringContaining('is active')]);
      expect(await bench.read(customer, id)).toMatchObject({ status: 'active', archivedAt: null });
    });
  });

  describe('is listed', () => {
    const list = async (query = '') => {
      const answer = await bench.api.get(`${jobsPath(customer)}${query}`, { key: customer.key });
      expect(answer.status).toBe(200);
      return agentJobPage.parse(answer.body);
    };

    it('newest first, page by page, and by status, with the jobs of its project only', async () => {
      const ids: string[] = [];
      for (let index = 0; index < 5; index += 1) ids.unshift((await bench.created(customer)).id);
      await bench.created(await bench.addCustomer());
      await bench.complete(ids[1] ?? '');
      const pages: string[][] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page = await list(`?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
        pages.push(page.jobs.map((job) => job.id));
        cursor = page.nextCursor;
      }
      expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
      expect((await list('?status=completed')).jobs).toEqual([await bench.read(customer, ids[1] ?? '')]);
      expect(await list('?status=archived')).toEqual({ jobs: [], nextCursor: null });
      expect((await list('?limit=5')).nextCursor).toBeNull();
    });

    it.each(['limit=0', 'limit=101', 'limit=x', 'limit=1&limit=2', 'status=queued', 'cursor=!', 'cursor=', 'page=2'])(
      'not for the query %s: 400',
      async (query) => {
        const answer = await bench.api.get(`${jobsPath(customer)}?${query}`, { key: customer.key });
        expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(query.split('=')[0] ?? '')]);
      },
    );
  });
});
