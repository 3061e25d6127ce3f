import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { configWith, publishedSignals, type RunningApi, startApi } from './running-api.ts';
import { signToken } from './signing.ts';

const SECRET = 'hush';
let temporal: TestTemporal;
let api: RunningApi;

beforeAll(async () => {
  temporal = await connectTemporal();
  const webhooks = { token: { secret: SECRET } };
  api = await startApi({ client: temporal.client, config: configWith({ storm: { webhooks }, calm: { webhooks } }) });
});

afterAll(async () => {
  await api.stop();
  await temporal.stop();
});

async function deliver(site: string, index: number): Promise<{ status: number; id: string }> {
  const body = JSON.stringify({ id: index });
  const headers = signToken({ secret: SECRET, body, path: '', at: new Date() });
  const answer = await fetch(`${api.url}/webhooks/${site}/token`, { method: 'POST', headers, body });
  const receipt: unknown = await answer.json();
  const id = typeof receipt === 'object' && receipt !== null ? Reflect.get(receipt, 'deliveryId') : undefined;
  return { status: answer.status, id: String(id) };
}

test('Five hundred deliveries at once share few signals, and each is in the workflow exactly once when it is acknowledged', async () => {
  const startMs = performance.now();
  const answers = await Promise.all(Array.from({ length: 500 }, (_, index) => deliver('storm', index)));
  const tookMs = performance.now() - startMs;
  const acknowledged = answers.filter(({ status }) => status === 202).map(({ id }) => id);
  const turnedBack = answers.filter(({ status }) => status !== 202);
  const signals = await publishedSignals(temporal.client, 'storm');
  const held = signals.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));

  // On a very busy machine a delivery may pass its deadline; none may be lost or answered any other way.
  expect(turnedBack.every(({ status }) => status === 503)).toBe(true);
  expect(acknowledged.length).toBeGreaterThan(0);
  expect(held.filter((id) => acknowledged.includes(id)).sort()).toEqual(acknowledged.sort());
  expect(new Set(held).size).toBe(held.length);
  // However slowly they come in, a signal begins 50 ms after the one before (a timer may be early by part of one). Each
  // alone, they would be as many as the deliveries.
  expect(signals.length).toBeLessThanOrEqual(1 + tookMs / 49);
});

test('A delivery that comes alone is signalled alone', async () => {
  for (let index = 0; index < 3; index += 1) expect((await deliver('calm', index)).status).toBe(202);
  const signals = await publishedSignals(temporal.client, 'calm');
  expect(signals.map(({ deliveries }) => deliveries.length)).toEqual([1, 1, 1]);
  expect(signals.map(({ newest }) => newest.id)).toEqual(['0', '1', '2']);
});
