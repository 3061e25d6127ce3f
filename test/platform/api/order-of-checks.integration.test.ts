import { exportJob } from '../../../contract/admin-api.ts';
import type { Customer } from '../../helpers/platform-api.ts';
import { type AgentFixture, useAgentApi } from './agent/agent-fixture.ts';
import { logUses } from './api-fixture.ts';

const JOBS = '/v1/static-export/jobs';

/** Each request is wrong in two ways. The status shows which check came first. */
describe('the order of checks', () => {
  let agents: AgentFixture;
  let customer: Customer;
  useAgentApi((fixture) => {
    ({ agents, customer } = fixture);
  });

  const known = { 'idempotency-key': 'known' };

  describe('for the start of an export', () => {
    const start = (body: object = {}, headers: Record<string, string> = {}) =>
      agents.api.post(JOBS, { key: customer.key, body: { domain: customer.domain, ...body }, headers });
    const downgradePlan = () => agents.api.setPlan(customer.organization, 'free');

    it('is the project before the body', async () => {
      expect((await start({ domain: 'nobody.example.com', paths: 5 })).status).toBe(404);
    });

    it('is the body before the Idempotency-Key, and the key before the plan', async () => {
      await start({}, known);
      expect((await start({ paths: 5 }, known)).status).toBe(400);
      await downgradePlan();
      expect((await start({ version: 'other' }, known)).status).toBe(422);
    });

    it('is the plan before a conflict', async () => {
      await start();
      await downgradePlan();
      expect((await start()).status).toBe(403);
    });

    it('is a conflict before the limit', async () => {
      await logUses(agents.platform, customer, { of: 'starts', count: 59 });
      const { jobId } = exportJob.parse((await start()).body);
      expect((await start()).status).toBe(409);
      await agents.platform.complete(jobId);
      expect((await start()).status).toBe(429);
    });

    it('skips every check for an Idempotency-Key that was already accepted', async () => {
      const first = await start({}, known);
      await downgradePlan();
      const again = await start({}, known);
      expect([again.status, again.body]).toEqual([202, first.body]);
    });
  });

  describe('for a prompt', () => {
    const create = (prompt: unknown, headers = {}) => agents.create(customer, { prompt }, headers);

    it('is the body before the Idempotency-Key, and the key before a conflict', async () => {
      const { id } = await agents.created(customer);
      await create('Do it', known);
      expect((await create(5, known)).status).toBe(400);
      expect((await agents.act(customer, id, 'message', { prompt: 'Do it' }, known)).status).toBe(422);
      expect((await agents.act(customer, id, 'message', { prompt: 'Do it' })).status).toBe(409);
    });

    it('is a conflict before the limit, and skips both for an Idempotency-Key that was already accepted', async () => {
      const first = await create('Do it', known);
      const { id } = await agents.created(customer);
      await logUses(agents.platform, customer, { of: 'prompts', count: 98 });
      const message = async () => (await agents.act(customer, id, 'message', { prompt: 'And this' })).status;
      expect(await message()).toBe(409);
      await agents.complete(id);
      expect([await message(), (await create('Do it')).status, (await create(5)).status]).toEqual([429, 429, 400]);
      const again = await create('Do it', known);
      expect([again.status, again.body]).toEqual([201, first.body]);
    });
  });
});
