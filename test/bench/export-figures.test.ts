import { type Figure, isMet } from '../../bench/export/figure.ts';
import { interleave } from '../../bench/export/interleave.ts';
import { countRequests, mostOfOneUrl } from '../../bench/export/requests.ts';
import { closedLoop } from '../../bench/load/closed-loop.ts';
import { createGate } from '../helpers/system/gate.ts';

const figure = (value: number, goal: Figure['goal']): Figure => ({
  ...{ measure: 'manual, against wget', ours: '1.00 s', theirs: '2.00 s' },
  ...{ value, goal },
});

test('a figure meets its goal at the bound itself, unless it must stay under it', () => {
  expect(isMet(figure(0.2, { is: 'at most', bound: 0.2 }))).toBe(true);
  expect(isMet(figure(0.21, { is: 'at most', bound: 0.2 }))).toBe(false);
  expect(isMet(figure(1.7, { is: 'at least', bound: 1.7 }))).toBe(true);
  expect(isMet(figure(1.69, { is: 'at least', bound: 1.7 }))).toBe(false);
  expect(isMet(figure(512, { is: 'under', bound: 512 }))).toBe(false);
  expect(isMet(figure(2, { is: 'exactly', bound: 1 }))).toBe(false);
  // What could not be measured is never met.
  expect(isMet(figure(Number.NaN, { is: 'at most', bound: 1 }))).toBe(false);
});

test('a log of requests is counted by address, its query included', () => {
  const counts = countRequests('GET 200 /a\nHEAD 200 /a\nGET 404 /robots.txt\nGET 200 /a?b=1\n');
  expect(counts).toEqual({ requests: 4, urls: 3, repeated: { '/a': 2 } });
  expect(mostOfOneUrl(counts)).toBe(2);
  expect(mostOfOneUrl(countRequests('GET 200 /\n'))).toBe(1);
  expect(mostOfOneUrl(countRequests(''))).toBe(0);
});

test('contenders take turns, and each round begins with another one', async () => {
  const order: string[] = [];
  const run = (name: string) => async () => order.push(name);
  const results = await interleave(3, { ours: run('ours'), theirs: run('theirs') });
  expect(order).toEqual(['ours', 'theirs', 'theirs', 'ours', 'ours', 'theirs']);
  expect(results).toEqual({ ours: [1, 4, 5], theirs: [2, 3, 6] });
});

test('the closed loop keeps so many calls under way, and counts what is answered within its time by what it was', async () => {
  let nowMs = 0;
  let underWay = 0;
  let most = 0;
  const over = createGate();
  const answered = await closedLoop(
    { inFlight: 5, warmUpMs: 10, measureMs: 100 },
    async (index) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise(setImmediate);
      underWay -= 1;
      nowMs += 1;
      if (nowMs === 110) over.open();
      return index % 2 === 0;
    },
    { nowMs: () => nowMs, sleep: () => over.pass() },
  );
  expect([most, underWay]).toEqual([5, 0]);
  // Answers come at each millisecond from 10 to 110, in turn to one of the five calls, half of which count.
  expect(answered).toEqual({ perSecond: 500, refused: 51, p50Ms: 5, p99Ms: 5 });
});
