import { condition } from '@temporalio/workflow';
import { type Pool, slotsOf } from '../../contract/pools.ts';
import type { SiteRun } from './run.ts';

/**
 * Runs a call when the site has a free slot of the pool: at most a tenth of the pool's, so that one site whose calls hang
 * starves no other.
 */
export async function inSlot<T>({ calls }: Pick<SiteRun, 'calls'>, pool: Pool, call: () => Promise<T>): Promise<T> {
  const limit = Math.max(Math.floor(slotsOf(pool) / 10), 1);
  const underWay = (): number => calls.get(pool) ?? 0;
  if (underWay() >= limit) await condition(() => underWay() < limit);
  calls.set(pool, underWay() + 1);
  try {
    return await call();
  } finally {
    calls.set(pool, underWay() - 1);
  }
}
