import { setTimeout as later } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { poolTaskQueue, TASK_QUEUES } from '../../../contract/names.ts';
import { createTogether } from '../../../contract/worker-options.ts';
import fc from '../../helpers/fast-check.ts';
import { runWorker } from '../../helpers/run-worker.ts';
import { startTimeSkipping } from '../../helpers/temporal.ts';
import { workflowBundles } from '../../helpers/workflow-bundles.ts';
import { createJointClock, type JointClock } from './joint-clock.ts';
import { COMMAND_COUNT, COMMAND_NAMES, codeOf } from './model-commands.ts';
import { placeSettings, playOn } from './play-sequence.ts';
import type { PlaceSettings } from './simulated-place.ts';
import { createWorkflowSite, type SiteStubs, STUBS, type WorkflowSite } from './workflow-site.ts';

/** The same sequences as in model.test.ts, shorter and fewer, on the whole workflow. */
const SEQUENCES = 200;
const STEPS = 20;
/** Most commands need a site that has something. */
const FIRST = [codeOf('publish'), codeOf('export ends')];
/** Sequences are played at the same time, because most of the time of one is spent on waiting for servers. */
const PLAYERS = 20;

/** Only a long history or a new build brings it about. */
const NOT_PLAYED = 'continue as new';
/** Only ends what hangs: it takes twenty minutes if nothing else runs. */
const LIMIT_MS = 3 * 3_600_000;

/** A sequence is played again if the server spoiled the history of its workflow (workflow-site.ts), but not forever. */
const MAX_TRIES = 10;
const CHECK_EVERY_MS = 5_000;

/** Where the activities run. */
const POOLS = [
  'admin-api',
  'settings',
  'status',
  'deployments-valuesFile',
  'deployments-directory',
  'deployments-git',
] as const;

// Activities fail in many sequences, and the SDK would log each failure.
Runtime.install({ logger: new DefaultLogger('ERROR') });

let env: TestWorkflowEnvironment;
let clock: JointClock;
let worker: { stop(): Promise<void> };
const taskQueue = `${TASK_QUEUES.orchestrator}-model`;
const served = new Map<string, WorkflowSite>();

beforeAll(async () => {
  env = await startTimeSkipping();
  clock = createJointClock(env);
  worker = runWorker(await createWorker());
});

afterAll(async () => {
  await worker.stop();
  await env.teardown();
});

/** The stubs of the site whose workflow calls. */
async function createWorker() {
  const own = (): SiteStubs => {
    const [, site = ''] = Context.current().info.workflowExecution?.workflowId.split(':') ?? [];
    const found = served.get(site);
    if (found === undefined) throw new Error(`nothing serves the site ${site}`);
    return found.stubs;
  };
  const activities = Object.fromEntries(
    STUBS.map((name) => [
      name,
      (...args: unknown[]) => clock.work((): unknown => Reflect.apply(own()[name], undefined, args)),
    ]),
  );
  const options = { connection: env.nativeConnection, activities };
  return await createTogether([
    Worker.create({ ...options, taskQueue, workflowBundle: workflowBundles.orchestrator }),
    ...POOLS.map((pool) => Worker.create({ ...options, taskQueue: poolTaskQueue(taskQueue, pool) })),
  ]);
}

async function checkHistories(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const site of served.values()) await site.checkHistory();
    await later(CHECK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

const places = fc.array(placeSettings, { minLength: 1, maxLength: 3 });
const command = fc.noBias(fc.nat(COMMAND_COUNT - 1));
const commands = fc.array(command, { minLength: STEPS, maxLength: STEPS });

describe('the workflow of a site, after any sequence of commands', () => {
  it(
    'goes back only for a reason, keeps what operators decided and its links, and serves each publish in the end',
    async () => {
      const counts = new Map(COMMAND_NAMES.map((name) => [name, 0]));
      let sites = 0;
      let spoiled = 0;
      // Its sequence is shrunk alone: the others needn't go on.
      let failing: number | null = null;

      function fail(player: number, error: unknown): never {
        if (failing === null) process.stdout.write(`player ${player} fails, and its sequence is shrunk: ${error}\n`);
        failing ??= player;
        throw error;
      }

      async function play(
        player: number,
        settings: readonly PlaceSettings[],
        codes: number[],
        tries = 1,
      ): Promise<void> {
        if (failing !== null && failing !== player) return;
        const name = `site-${++sites}`;
        const site = createWorkflowSite({ name, settings, client: env.client, taskQueue, clock });
        served.set(name, site);
        try {
          await playOn(site, site.model, [...FIRST, ...codes], (played) => {
            if (played.didSomething) counts.set(played.name, (counts.get(played.name) ?? 0) + 1);
          });
        } catch (error) {
          await site.checkHistory();
          if (!site.isSpoiled) fail(player, error);
        } finally {
          await site.close();
          served.delete(name);
        }
        if (!site.isSpoiled) return;
        spoiled++;
        if (tries === MAX_TRIES) fail(player, new Error(`the server spoiled ${tries} histories of one sequence`));
        await play(player, settings, codes, tries + 1);
      }

      const seed = fc.readConfigureGlobal()?.seed ?? Date.now();
      const players = Array.from({ length: PLAYERS }, (_, player) => {
        const property = fc.asyncProperty(places, commands, (...sequence) => play(player, ...sequence));
        return clock.join(() => fc.assert(property, { seed: seed + player, numRuns: SEQUENCES / PLAYERS }));
      });
      const stopChecks = new AbortController();
      const checks = checkHistories(stopChecks.signal);
      const failed = (await Promise.allSettled(players)).find((each) => each.status === 'rejected');
      stopChecks.abort();
      await checks;
      if (failed !== undefined) throw failed.reason;
      process.stdout.write(`${SEQUENCES} sequences; ${spoiled} more were spoiled by the server\n`);
      process.stdout.write(`${[...counts].map(([name, count]) => `${count} ${name}`).join('\n')}\n`);
      expect([...counts].filter(([, count]) => count === 0)).toEqual([[NOT_PLAYED, 0]]);
    },
    LIMIT_MS,
  );
});
