import { setTimeout as sleep } from 'node:timers/promises';
import type { SiteState } from '../../contract/site-state.ts';
import { SITES, type Site } from './choose.ts';
import type { Ending } from './history.ts';
import type { Operators } from './operators.ts';
import type { World } from './world.ts';

/**
 * The end of a round: operators take back what they decided, publish once more and approve what waits. Then the newest edition
 * has to be served everywhere, and nothing may be under way.
 */

/** What isn't settled by then is stuck: longer than any back-off of the product after the faults of a round. */
const LIMIT_MS = 300_000;

export async function settle(
  world: World,
  operators: Operators,
  nowMs: () => number,
  log: (line: string) => void,
): Promise<Ending> {
  for (const site of SITES) {
    await release(operators, site);
    await operators.publish(site);
  }
  const untilMs = nowMs() + LIMIT_MS;
  const sites: Record<string, Ending['sites'][string]> = {};
  for (let said = ''; ; ) {
    const unsettled: string[] = [];
    for (const site of SITES) {
      try {
        const { state, jobs } = await readSite(world, site);
        unsettled.push(...unsettledOf(state), ...jobs.flatMap(unended));
        const completedJobs = jobs.filter(({ status }) => status === 'completed').length;
        sites[site] = { state, completedJobs, now: new Date().toISOString() };
        if (isWaitingForPerson(state)) await operators.command(site, 'approve');
      } catch (error) {
        unsettled.push(`${site} can't be read: ${error instanceof Error ? error.message : error}`);
      }
    }
    const leftovers = await world.leftovers();
    const now = [...unsettled, ...leftovers].join('; ');
    if (now !== said) log(`${String(nowMs()).padStart(7)} ms ${now === '' ? 'settled' : `waits: ${now}`}`);
    said = now;
    if (now === '' || nowMs() > untilMs) return { atMs: nowMs(), unsettled, leftovers, sites };
    await sleep(500);
  }
}

async function readSite(world: World, site: Site) {
  return { state: await world.orchestrator.state(site), jobs: await world.jobs(site) };
}

async function release(operators: Operators, site: Site): Promise<void> {
  // 409: there is nothing to end.
  for (const action of ['unlock', 'resume'] as const) {
    while (![200, 409].includes((await operators.command(site, action)) ?? 0)) await sleep(500);
  }
  await operators.pin(site, null);
}

function isWaitingForPerson({ phase, deployments }: SiteState): boolean {
  return phase === 'review' || deployments.some(({ state }) => state === 'approval');
}

function unsettledOf(state: SiteState): string[] {
  const { site, phase, pendingCount, oldestUnserved, lastError, deployments } = state;
  const because = lastError === null ? '' : ` (${lastError.message})`;
  const found = phase === 'live' ? [] : [`${site} is ${phase}${because}`];
  if (pendingCount > 0) found.push(`${site} has ${pendingCount} publishes that wait`);
  if (oldestUnserved !== null) found.push(`${site} has a publish that isn't served: ${oldestUnserved.reason}`);
  for (const { name, state: is, desired, error } of deployments) {
    if (is !== 'live' || desired.reason !== 'newest')
      found.push(`${name} is ${is} and should have the ${desired.reason} version${error ? ` (${error.message})` : ''}`);
  }
  return found;
}

function unended({ jobId, status }: { jobId: string; status: string }): string[] {
  return status === 'queued' || status === 'running' ? [`the job ${jobId} is ${status}`] : [];
}
