import { setTimeout as sleep } from 'node:timers/promises';
import { agentJob } from '../../../../contract/admin-api.ts';
import { beginAgentRun, completeAgentRun } from '../../../../platform/store/agent-job-transitions.ts';
import type { Customer } from '../../../helpers/platform-api.ts';
import type { TestDatabase } from '../../../helpers/test-database.ts';
import { createApiClient } from '../api-client.ts';
import { type TwoPlatforms, useTwoPlatforms } from '../use-two-platforms.ts';
import { createPath, jobPath, jobsPath } from './agent-bench.ts';

/** What holds when two servers of the platform answer at once; for two processes see two-processes.system.test.ts. */
export function agentRacesContract(startDatabase: () => Promise<TestDatabase>): void {
  let platforms: TwoPlatforms;
  useTwoPlatforms(startDatabase, (given) => {
    platforms = given;
  });

  type Sent = { path: string; body?: unknown; headers?: Record<string, string> };

  const client = (index: number) => createApiClient(platforms[index % 2 === 0 ? 0 : 1].baseUrl);
  /** Sends all at once, to the two in turn. */
  const sendTogether = (key: string, sent: readonly Sent[]) =>
    Promise.all(sent.map(({ path, ...rest }, index) => client(index).post(path, { key, ...rest })));
  /** The same, and again where the database had no time: on a busy machine the embedded one lets so many wait too long. */
  const sendUntilTaken = (key: string, sent: readonly Sent[]) =>
    Promise.all(
      sent.map(async ({ path, headers, ...rest }, index) => {
        for (;;) {
          const once = { ...headers, 'idempotency-key': `request-${index}` };
          const answer = await client(index).post(path, { key, ...rest, headers: once });
          if (answer.status !== 503) return answer;
          await sleep(500);
        }
      }),
    );
  const times = <Item>(count: number, make: (index: number) => Item) =>
    Array.from({ length: count }, (_, i) => make(i));
  const creates = (customer: Customer, count: number, headers = {}): Sent[] =>
    times(count, () => ({ path: createPath(customer), body: { prompt: 'Do it' }, headers }));
  const statuses = (answers: { status: number }[]) => answers.map((answer) => answer.status).sort();

  async function completedJob(customer: Customer): Promise<string> {
    const answer = await client(0).post(createPath(customer), { key: customer.key, body: { prompt: 'Do it' } });
    const { id: jobId } = agentJob.parse(answer.body);
    await beginAgentRun(platforms[0].db, { jobId, run: 1 });
    await completeAgentRun(platforms[0].db, { jobId, run: 1, prLink: null });
    return jobId;
  }

  it('accepts exactly 100 of 130 prompts at once, and tells each of the others when a slot frees', async () => {
    const customer = await platforms[0].addCustomer();
    const answers = await sendUntilTaken(customer.key, creates(customer, 130));
    const accepted = answers.filter((answer) => answer.status === 201);
    const refused = answers.filter((answer) => answer.status === 429);
    expect([accepted.length, refused.length]).toEqual([100, 30]);
    expect(new Set(accepted.map((answer) => answer.headers.get('ratelimit-remaining'))).size).toBe(100);
    for (const { headers } of refused) {
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(3400);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(3600);
    }
    const started = new Set(platforms.flatMap((platform) => platform.startedRuns.map(({ jobId }) => jobId)));
    const ids = accepted.map((answer) => agentJob.parse(answer.body).id);
    expect(ids.filter((id) => !started.has(id))).toEqual([]);
    const { jobs } = JSON.parse((await client(1).get(`${jobsPath(customer)}?limit=100`, { key: customer.key })).text);
    expect(jobs).toHaveLength(100);
  });

  it('refuses the 101st use by both, whether it is a create or a message', async () => {
    const customer = await platforms[0].addCustomer();
    const id = await completedJob(customer);
    await sendUntilTaken(customer.key, creates(customer, 99));
    const message = { path: `${jobPath(customer, id)}/message`, body: { prompt: 'And this' } };
    const answers = await sendTogether(customer.key, [...creates(customer, 2), message, message]);
    expect(statuses(answers)).toEqual([429, 429, 429, 429]);
  });

  it('makes one job of 20 creates at once with one Idempotency-Key, and answers each the same', async () => {
    const customer = await platforms[0].addCustomer();
    const answers = await sendTogether(customer.key, creates(customer, 20, { 'idempotency-key': 'once' }));
    expect(statuses(answers)).toEqual(times(20, () => 201));
    const ids = new Set(answers.map((answer) => agentJob.parse(answer.body).id));
    expect(ids.size).toBe(1);
    const started = platforms.flatMap((platform) => platform.startedRuns).filter(({ jobId }) => ids.has(jobId));
    expect(started).toHaveLength(1);
  });

  it('lets one Idempotency-Key stand for one of several requests at once, whatever they ask for', async () => {
    const customer = await platforms[0].addCustomer();
    const id = await completedJob(customer);
    const headers = { 'idempotency-key': 'of-which' };
    const answers = await sendTogether(customer.key, [
      { path: createPath(customer), body: { prompt: 'a' }, headers },
      { path: createPath(customer), body: { prompt: 'b' }, headers },
      { path: `${jobPath(customer, id)}/message`, body: { prompt: 'c' }, headers },
      { path: '/v1/static-export/jobs', body: { domain: customer.domain }, headers },
    ]);
    expect(answers.filter((answer) => answer.status < 300)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 422)).toHaveLength(3);
  });

  it('takes one of 10 messages at once and refuses the others', async () => {
    const customer = await platforms[0].addCustomer();
    const path = `${jobPath(customer, await completedJob(customer))}/message`;
    const answers = await sendTogether(
      customer.key,
      times(10, (index) => ({ path, body: { prompt: `Message ${index}` } })),
    );
    expect(statuses(answers)).toEqual([200, ...times(9, () => 409)]);
  });

  it('lets either a message or the archive win, and refuses the other', async () => {
    const customer = await platforms[0].addCustomer();
    for (let round = 0; round < 10; round += 1) {
      const job = jobPath(customer, await completedJob(customer));
      const message = { path: `${job}/message`, body: { prompt: 'And this' } };
      const archive = { path: `${job}/archive` };
      const answers = await sendTogether(customer.key, round % 2 === 0 ? [message, archive] : [archive, message]);
      expect(statuses(answers)).toEqual([200, 409]);
    }
  });
}
