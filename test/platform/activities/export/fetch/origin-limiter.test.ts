import { setTimeout as sleep } from 'node:timers/promises';
import { createOriginLimiter } from '../../../../../platform/activities/export/fetch/origin-limiter.ts';

const { signal } = new AbortController();

describe('the origin limiter', () => {
  it('never has more requests at an origin than its limit, grows with good answers and shrinks with bad ones', async () => {
    const limiter = createOriginLimiter({ initial: 2, max: 6 });
    let active = 0;
    let most = 0;
    const visit = async (outcome: 'answered' | 'overloaded'): Promise<void> => {
      const release = await limiter.acquire('a', signal);
      active += 1;
      most = Math.max(most, active);
      await sleep(2);
      active -= 1;
      release(outcome);
    };
    await Promise.all(Array.from({ length: 60 }, () => visit('answered')));
    expect(most).toBeGreaterThan(2);
    expect(most).toBeLessThanOrEqual(6);
    expect(limiter.limitOf('a')).toBe(6);
    await visit('overloaded');
    expect(limiter.limitOf('a')).toBe(3);
    expect(limiter.limitOf('b')).toBe(2);
  });
});
