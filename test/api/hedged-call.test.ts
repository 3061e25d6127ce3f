import { setTimeout as sleep } from 'node:timers/promises';
import { hedged } from '../../api/hedged-call.ts';

/** A call whose n-th attempt takes and answers what is listed; how many attempts were made. */
function attempts(...plan: { tookMs: number; answer: string | Error }[]) {
  let made = 0;
  const call = async (): Promise<string> => {
    const { tookMs, answer } = plan[made] ?? { tookMs: 0, answer: new Error('not planned') };
    made += 1;
    await sleep(tookMs);
    if (typeof answer === 'string') return answer;
    throw answer;
  };
  return { call, made: () => made };
}

const options = { deadlineMs: 2_000, joinAtMs: [100] };

test('A call that answers soon is made once', async () => {
  const { call, made } = attempts({ tookMs: 1, answer: 'first' });
  expect(await hedged(call, options)).toBe('first');
  await sleep(150);
  expect(made()).toBe(1);
});

test('A second attempt joins one that hangs, and the first success wins', async () => {
  const { call, made } = attempts({ tookMs: 600, answer: 'late' }, { tookMs: 1, answer: 'second' });
  expect(await hedged(call, options)).toBe('second');
  expect(made()).toBe(2);
});

test('An attempt that fails while another runs does not decide', async () => {
  const { call } = attempts({ tookMs: 300, answer: 'first' }, { tookMs: 1, answer: new Error('refused') });
  expect(await hedged(call, options)).toBe('first');
});

test('A refusal with nothing else under way is final', async () => {
  const { call, made } = attempts({ tookMs: 1, answer: new Error('refused') });
  await expect(hedged(call, options)).rejects.toThrow('refused');
  await sleep(150);
  expect(made()).toBe(1);
});

test('A call that never answers ends at its deadline', async () => {
  const { call } = attempts({ tookMs: 900, answer: 'late' }, { tookMs: 900, answer: 'late' });
  await expect(hedged(call, { ...options, deadlineMs: 200 })).rejects.toThrow('no answer within 200 ms');
});
