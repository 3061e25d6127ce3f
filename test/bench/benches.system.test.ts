import { closedLoop } from '../../bench/load/closed-loop.ts';
import { runStorm } from '../../bench/storm/run-storm.ts';
import { measureRounds } from '../../bench/webhooks/rounds.ts';

/** Everything is started, and the product built where it isn't. */
const TIMEOUT_MS = 240_000;

const told: string[] = [];
const progress = (text: string): void => void told.push(text);

test(
  'a storm loses nothing, exports two at a time at most and the last publish too, and is told of in short histories',
  async () => {
    const storm = await runStorm({ deliveries: 2_000, inFlight: 64 }, { progress });
    expect(storm).toMatchObject({ missing: 0, lastExported: true, sent: { acknowledged: 2_000 } });
    expect(storm.mostAtATime).toBeLessThanOrEqual(2);
    expect(storm.runs.reduce((sum, { signals }) => sum + signals, 0)).toBeLessThan(1_000);
    for (const { events } of storm.runs) expect(events).toBeLessThan(10_000);
    for (const samples of Object.values(storm.memory)) expect(Math.min(...samples)).toBeGreaterThan(10);
  },
  TIMEOUT_MS,
);

test(
  'every case of the webhooks bench gets answers that count',
  async () => {
    const loop = { inFlight: 8, warmUpMs: 0, measureMs: 2_000 };
    const rounds = await measureRounds({ ...loop, rounds: 1, worker: false }, { progress });
    const cases = rounds.flatMap((round) => Object.entries(round));
    expect(cases.map(([name]) => name).sort()).toEqual(['express', 'rawMany', 'rawOne', 'receiverMany', 'receiverOne']);
    for (const [name, { perSecond, p50Ms, p99Ms }] of cases) {
      expect([name, perSecond > 0, p50Ms > 0, p99Ms >= p50Ms]).toEqual([name, true, true, true]);
    }
  },
  TIMEOUT_MS,
);

test('the closed loop keeps so many calls under way, and counts what is answered within its time by what it was', async () => {
  let underWay = 0;
  let most = 0;
  const answered = await closedLoop({ inFlight: 5, warmUpMs: 20, measureMs: 200 }, async (index) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setTimeout(resolve, 5));
    underWay -= 1;
    return index % 2 === 0;
  });
  expect([most, underWay]).toEqual([5, 0]);
  expect(answered.perSecond).toBeGreaterThan(0);
  expect(answered.refused).toBeGreaterThan(0);
  expect(answered.p50Ms).toBeGreaterThanOrEqual(4);
  expect(answered.p99Ms).toBeGreaterThanOrEqual(answered.p50Ms);
});
