import { exportJob } from '../../../contract/admin-api.ts';
import type { Customer, TestPlatform } from '../../helpers/platform-api.ts';
import type { ApiClient } from './api-client.ts';
import { usePlatform } from './use-platform.ts';

const JOBS = '/v1/static-export/jobs';
const STARTS_PER_HOUR = 60;

/** Each request is wrong in two ways; the answer tells which of the two was looked at first. */
describe('a start that is wrong in more than one way is refused for', () => {
  let platform: TestPlatform;
  let api: ApiClient;
  let customer: Customer;

  usePlatform((given) => {
    ({ platform, api } = given);
  });
  beforeEach(async () => {
    customer = await platform.addCustomer();
  });

  const start = async (body: object = {}, headers: Record<string, string> = {}) =>
    await api.post(JOBS, { key: customer.key, body: { domain: customer.domain, ...body }, headers });
  const loseThePlan = async (): Promise<void> => {
    await api.adminPost('/admin/keys', { organization: customer.organization, plan: 'free' });
  };
  const known = { 'idempotency-key': 'known' };

  it('its key before anything else', async () => {
    const answer = await api.post(JOBS, { key: 'galley_unknown', body: { domain: 'nobody.example.com', paths: 5 } });
    expect(answer.status).toBe(401);
  });

  it('the project that is not there before the body', async () => {
    expect((await start({ domain: 'nobody.example.com', paths: 5 })).status).toBe(404);
  });

  it('its body before its Idempotency-Key', async () => {
    await start({}, known);
    expect((await start({ paths: 5 }, known)).status).toBe(400);
  });

  it('its Idempotency-Key before the plan', async () => {
    await start({}, known);
    await loseThePlan();
    expect((await start({ version: 'other' }, known)).status).toBe(422);
  });

  it('the plan before a conflict', async () => {
    await start();
    await loseThePlan();
    expect((await start()).status).toBe(403);
  });

  it('a conflict before the limit', async () => {
    for (let use = 1; use < STARTS_PER_HOUR; use += 1) {
      await platform.complete(exportJob.parse((await start()).body).jobId);
    }
    expect((await start()).status).toBe(202);
    expect((await start()).status).toBe(409);
  });

  it('nothing where its Idempotency-Key was answered once, whatever stands in the way since', async () => {
    const first = await start({}, known);
    await loseThePlan();
    const again = await start({}, known);
    expect([again.status, again.body]).toEqual([202, first.body]);
  });
});
