import { createGuessing, type Failures } from '../../web/slow-guesses.ts';

function inMemory(): Failures {
  const counts = new Map<string, number>();
  const count = (lane: string) => counts.get(lane) ?? 0;
  return { count, add: (lane) => void counts.set(lane, count(lane) + 1), forget: (lane) => void counts.delete(lane) };
}

const wrong = async () => undefined;
const right = async () => 'in';

describe('wrong secrets', () => {
  it('are slowed after ten in a lane, up to 2 s, until a right one', async () => {
    const waits: number[] = [];
    const guess = createGuessing(inMemory(), async (ms) => void waits.push(ms));
    for (let count = 0; count < 30; count += 1) await guess('lane', wrong);
    expect(waits.splice(0)).toEqual([250, 500, 1_000, 2_000].flatMap((ms) => Array(5).fill(ms)));
    await guess('other lane', wrong);
    expect([await guess('lane', right), await guess('lane', wrong), waits]).toEqual(['in', undefined, []]);
  });

  it('in a flood hold up a right one, and do not reject it', async () => {
    const guess = createGuessing(inMemory(), () => new Promise(setImmediate));
    const flood = Array.from({ length: 500 }, () => guess('lane', wrong));
    const outcomes = Promise.allSettled(flood);
    expect(await guess('lane', right)).toBe('in');
    const rejected = (await outcomes).filter(({ status }) => status === 'rejected');
    // One at a time, and 20 that wait, one of them the right one.
    expect(rejected).toHaveLength(480);
  });

  it('count only once they are checked: an error of the check is none', async () => {
    const failures = inMemory();
    const guess = createGuessing(failures);
    await expect(guess('lane', () => Promise.reject(new Error('the database is away')))).rejects.toThrow('away');
    expect([failures.count('lane'), await guess('lane', right)]).toEqual([0, 'in']);
  });
});
