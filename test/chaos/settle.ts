import { setTimeout as sleep } from 'node:timers/promises';
import type { SiteState } from '../../contract/site-state.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { SITES, type Site } from './choose.ts';
import type { Ending } from './history.ts';
import type { Operators } from './operators.ts';
import { Stillness } from './stillness.ts';
import type { World } from './world.ts';

/**
 * The end of a round: operators take back what they decided, publish once more and approve what waits. Then the newest edition
 * has to be served everywhere, nothing may be under way, and each link has to be refreshed once.
 */

/** What doesn't change in so many looks is stuck: on an idle machine 150 s, longer than any back-off after such faults. */
const STILL_LOOKS = 300;
/** What changes for so long has no verdict. */
const LIMIT_MS = 600_000;

export async function settle(
  world: World,
  operators: Operators,
  nowMs: () => number,
  log: (line: string) => void,
): Promise<Ending> {
  const unanswered = await Promise.all(SITES.map((site) => release(operators, site)));
  if (unanswered.flat().length > 0)
    return { atMs: nowMs(), unsettled: unanswered.flat(), isMoving: false, leftovers: [], sites: {} };
  await Promise.all(SITES.map((site) => operators.publish(site)));
  const untilMs = nowMs() + LIMIT_MS;
  const sites: Record<string, Ending['sites'][string]> = {};
  let links: ReadonlyMap<string, string> | undefined;
  const stillness = new Stillness(STILL_LOOKS);
  for (;;) {
    const unsettled: string[] = [];
    const evidence: string[] = [];
    for (const site of SITES) {
      try {
        const { state, jobs } = await readSite(world, site);
        unsettled.push(...unsettledOf(state), ...jobs.flatMap(unended));
        evidence.push(progressOf(state));
        const completedJobs = jobs.flatMap(({ jobId, status }) => (status === 'completed' ? [jobId] : []));
        sites[site] = { state, completedJobs, now: new Date().toISOString() };
        if (isWaitingForPerson(state)) await operators.command(site, 'approve');
        if (state.deployments.some((each) => each.state === 'proposed')) await operators.merge(site);
      } catch (error) {
        unsettled.push(`${site} can't be read: ${error instanceof Error ? error.message : error}`);
      }
    }
    const leftovers = await world.leftovers();
    if (unsettled.length === 0) {
      links ??= linksOf(world, sites);
      unsettled.push(...unrefreshed(linksOf(world, sites), links));
    }
    const now = [...unsettled, ...leftovers].join('; ');
    const { isNew, isStill } = stillness.look([now, ...evidence].join('; '));
    if (isNew) log(`${String(nowMs()).padStart(7)} ms ${now === '' ? 'settled' : `waits: ${now}`}`);
    if (now === '' || isStill || nowMs() > untilMs) {
      return { atMs: nowMs(), unsettled, leftovers, sites, isMoving: now !== '' && !isStill };
    }
    await sleep(500);
  }
}

/** When the link of each deployment expires that Galley can refresh without a person. */
function linksOf({ places }: World, sites: Ending['sites']): Map<string, string> {
  const merged = new Set(places.filter(({ awaits }) => awaits === 'merge').map(({ name }) => name));
  const deployments = Object.values(sites).flatMap(({ state }) => state.deployments);
  return new Map(
    deployments.flatMap(({ name, linkExpiresAt }) =>
      linkExpiresAt === null || merged.has(name) ? [] : [[name, linkExpiresAt]],
    ),
  );
}

function unrefreshed(now: ReadonlyMap<string, string>, before: ReadonlyMap<string, string>): string[] {
  const same = [...before].filter(([name, expiresAt]) => now.get(name) === expiresAt);
  return same.map(([name, expiresAt]) => `the link of ${name} until ${expiresAt} isn't refreshed`);
}

async function readSite(world: World, site: Site) {
  return { state: await world.orchestrator.state(site), jobs: await world.jobs(site) };
}

/** Returns what the site doesn't answer. */
async function release(operators: Operators, site: Site): Promise<string[]> {
  await operators.pin(site, null);
  for (const action of ['unlock', 'resume'] as const) {
    // 409: there is nothing to end.
    const isAnswered = async () => [200, 409].includes((await operators.command(site, action)) ?? 0);
    try {
      await waitFor(isAnswered, { describe: `let ${site} ${action}`, everyMs: 500, timeoutMs: LIMIT_MS });
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  }
  return [];
}

/** What shows that a site goes on although it still isn't settled: its export, and what is written. Refreshes don't count. */
function progressOf({ jobId, progress, exports, deployments }: SiteState): string {
  return JSON.stringify([jobId, progress, exports.length, deployments.map(({ jobId: written }) => written)]);
}

function isWaitingForPerson({ phase, deployments }: SiteState): boolean {
  return phase === 'review' || deployments.some(({ state }) => state === 'approval');
}

function unsettledOf(state: SiteState): string[] {
  const { site, phase, pendingCount, oldestUnserved, lastError, deployments } = state;
  const because = lastError === null ? '' : ` (${lastError.message})`;
  const isProposed = phase === 'proposed' && deployments.every(isThere);
  const found = phase === 'live' || isProposed ? [] : [`${site} is ${phase}${because}`];
  if (pendingCount > 0) found.push(`${site} has ${pendingCount} publishes that wait`);
  if (oldestUnserved !== null) found.push(`${site} has a publish that isn't served: ${oldestUnserved.reason}`);
  for (const deployment of deployments) {
    const { name, state: is, desired, error } = deployment;
    if (!isThere(deployment))
      found.push(`${name} is ${is} and should have the ${desired.reason} version${error ? ` (${error.message})` : ''}`);
  }
  return found;
}

/** It has the newest version. A pull request with a fresh link is open most of the time: Galley looks every half minute. */
function isThere({ state, jobId, desired }: SiteState['deployments'][number]): boolean {
  return desired.reason === 'newest' && (state === 'live' || (state === 'proposed' && jobId === desired.jobId));
}

function unended({ jobId, status }: { jobId: string; status: string }): string[] {
  return status === 'queued' || status === 'running' ? [`the job ${jobId} is ${status}`] : [];
}
