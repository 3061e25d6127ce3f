import { agentJobSchema, exportJob } from '../../../contract/admin-api.ts';
import { lockUntilCommit } from '../../../platform/store/locks.ts';
import type { Customer } from '../../helpers/platform-api.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { type AgentFixture, createPath, useAgentApi } from './agent/agent-fixture.ts';
import { logUses } from './api-fixture.ts';

const HOUR_SECONDS = 3_600;

/** The rules of the window are in sliding-window.test.ts. */
describe('the hourly limit', () => {
  let agents: AgentFixture;
  let customer: Customer;
  useAgentApi((fixture) => {
    ({ agents, customer } = fixture);
  });

  const advance = (seconds: number) => agents.platform.advance(seconds * 1000);
  const start = (of = customer) =>
    agents.api.post('/v1/static-export/jobs', { key: of.key, body: { domain: of.domain } });
  const remaining = ({ headers }: { headers: Headers }) => headers.get('ratelimit-remaining');

  async function startAndComplete() {
    const response = await start();
    await agents.platform.complete(exportJob.parse(response.body).jobId);
    return response;
  }

  it('rejects the 61st start of an organization until the first is an hour old', async () => {
    const first = await startAndComplete();
    expect([first.headers.get('ratelimit-limit'), remaining(first)]).toEqual(['60', '59']);
    advance(600);
    await logUses(agents.platform, customer, { of: 'starts', count: 58 });
    const last = await start();
    expect([last.status, remaining(last)]).toEqual([202, '0']);
    // A conflict is not counted.
    expect((await start()).status).toBe(409);
    await agents.platform.complete(exportJob.parse(last.body).jobId);
    const refused = await start();
    expect([refused.status, remaining(refused)]).toEqual([429, '0']);
    const retryAfter = refused.headers.get('retry-after');
    expect(refused.headers.get('ratelimit-reset')).toBe(retryAfter);
    const waitSeconds = Number(retryAfter);
    expect(waitSeconds).toBeLessThanOrEqual(HOUR_SECONDS - 600);
    advance(waitSeconds);
    await startAndComplete();
    expect((await start()).status).toBe(429);
    expect((await start(await agents.addCustomer())).status).toBe(202);
  });

  it('counts the creates and messages of a project together, up to 100', async () => {
    const { id } = await agents.created(customer);
    await agents.complete(id);
    const message = () => agents.act(customer, id, 'message', { prompt: 'And this' });
    const messaged = await message();
    expect([messaged.status, messaged.headers.get('ratelimit-limit'), remaining(messaged)]).toEqual([200, '100', '98']);
    await logUses(agents.platform, customer, { of: 'prompts', count: 97 });
    expect(remaining(await agents.create(customer))).toBe('0');
    await agents.complete(id, 2);
    for (const refused of [await agents.create(customer), await message()]) {
      expect([refused.status, remaining(refused)]).toEqual([429, '0']);
      expect(refused.error).toContain('100 per hour');
    }
    expect((await agents.read(customer, id)).status).toBe('completed');
    expect((await agents.create(await agents.addCustomer())).status).toBe(201);
    advance(HOUR_SECONDS);
    expect(remaining(await message())).toBe('99');
  });

  it('does not count a prompt that was rejected, invalid or repeated with its Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'once' };
    expect(remaining(await agents.create(customer, { prompt: 'Do it' }, key))).toBe('99');
    const { id } = await agents.created(customer);
    const statuses = [
      await agents.create(customer, { prompt: 'Do it' }, key),
      await agents.create(customer, { prompt: 'Do that' }, key),
      await agents.create(customer, { prompt: '' }),
      await agents.act(customer, id, 'message', { prompt: 'And this' }),
      await agents.act(customer, 'aj_0123456789abcdef', 'message', { prompt: 'And this' }),
      await agents.api.post(createPath(customer), { body: { prompt: 'a' } }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([201, 422, 400, 409, 404, 401]);
    expect(remaining(await agents.create(customer))).toBe('97');
  });

  it('counts a prompt that waited for the lock from when it got the lock', async () => {
    const { db } = agents.platform;
    const waiters = `select 1 from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    const isWaiting = async () => (await db.execute(waiters)).rows.length > 0;
    let sent: ReturnType<AgentFixture['create']> | undefined;
    await db.transaction(async (tx) => {
      await lockUntilCommit(tx, `agent:${customer.project}`);
      sent = agents.create(customer);
      await waitFor(isWaiting, { describe: 'waited for the lock' });
      advance(HOUR_SECONDS);
    });
    const advancedAt = agents.platform.now();
    const job = agentJobSchema.parse((await sent)?.body);
    expect(Date.parse(job.createdAt)).toBeGreaterThan(advancedAt - (HOUR_SECONDS * 1000) / 2);
  });
});
