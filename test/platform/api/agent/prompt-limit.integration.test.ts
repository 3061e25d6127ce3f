import type { Customer } from '../../../helpers/platform-api.ts';
import { type AgentBench, useAgentBench } from './agent-bench.ts';

const HOUR_SECONDS = 3_600;

describe('the hourly limit of prompts', () => {
  let bench: AgentBench;
  let customer: Customer;
  useAgentBench((given) => {
    ({ bench, customer } = given);
  });

  async function createMany(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) ids.push((await bench.created(customer)).id);
    return ids;
  }
  const advance = (seconds: number) => bench.platform.advance(seconds * 1000);
  const status = async () => (await bench.create(customer)).status;

  it('counts creates and messages of a project together, and tells with each how many are left', async () => {
    const [id = ''] = await createMany(60);
    for (let run = 1; run <= 40; run += 1) {
      await bench.complete(id, run);
      const answer = await bench.act(customer, id, 'message', { prompt: 'And this' });
      expect([answer.status, answer.headers.get('ratelimit-remaining')]).toEqual([200, String(40 - run)]);
      expect(answer.headers.get('ratelimit-limit')).toBe('100');
    }
    await bench.complete(id, 41);
    const refused = [await bench.create(customer), await bench.act(customer, id, 'message', { prompt: 'And this' })];
    for (const answer of refused) {
      expect([answer.status, answer.headers.get('ratelimit-remaining')]).toEqual([429, '0']);
      expect(answer.headers.get('retry-after')).toBe(answer.headers.get('ratelimit-reset'));
      expect(answer.error).toContain('100 per hour');
    }
    expect((await bench.read(customer, id)).status).toBe('completed');
    expect((await bench.create(await bench.addCustomer())).status).toBe(201);
  });

  it('slides: a slot frees the second the use that took it is an hour old, and Retry-After tells it', async () => {
    await createMany(1);
    advance(600);
    await createMany(1);
    advance(600);
    await createMany(98);
    const refused = await bench.create(customer);
    const waitSeconds = Number(refused.headers.get('retry-after'));
    // The creates took a while of their own.
    expect(waitSeconds).toBeLessThanOrEqual(HOUR_SECONDS - 1200);
    expect(waitSeconds).toBeGreaterThan(HOUR_SECONDS - 1320);
    advance(waitSeconds - 60);
    expect(await status()).toBe(429);
    advance(60);
    expect(await status()).toBe(201);
    const next = await bench.create(customer);
    expect(next.status).toBe(429);
    expect(Number(next.headers.get('retry-after'))).toBeGreaterThan(500);
    expect(Number(next.headers.get('retry-after'))).toBeLessThanOrEqual(600);
    advance(HOUR_SECONDS);
    const fresh = await bench.create(customer);
    expect([fresh.status, fresh.headers.get('ratelimit-remaining')]).toEqual([201, '99']);
  });

  it('counts nothing that was refused, invalid or answered again', async () => {
    const key = { 'idempotency-key': 'once' };
    const first = await bench.create(customer, { prompt: 'Do it' }, key);
    expect(first.headers.get('ratelimit-remaining')).toBe('99');
    const { id } = await bench.created(customer);
    for (let round = 0; round < 5; round += 1) {
      expect((await bench.create(customer, { prompt: 'Do it' }, key)).status).toBe(201);
      expect((await bench.create(customer, { prompt: 'Do that' }, key)).status).toBe(422);
      expect((await bench.create(customer, { prompt: '' })).status).toBe(400);
      expect((await bench.act(customer, id, 'message', { prompt: 'And this' })).status).toBe(409);
      expect((await bench.act(customer, 'aj_0123456789abcdef', 'message', { prompt: 'And this' })).status).toBe(404);
      expect((await bench.api.post(`/v2/agent/${customer.project}/job`, { body: { prompt: 'a' } })).status).toBe(401);
    }
    expect((await bench.create(customer)).headers.get('ratelimit-remaining')).toBe('97');
    await createMany(97);
    for (let round = 0; round < 5; round += 1) expect(await status()).toBe(429);
    advance(HOUR_SECONDS);
    expect((await bench.create(customer)).headers.get('ratelimit-remaining')).toBe('99');
  });
});
