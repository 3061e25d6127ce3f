import { setTimeout as sleep } from 'node:timers/promises';
import { describeStep, type Plan, SITES, type Step } from './choose.ts';
import { WORKERS } from './faults.ts';
import type { Fault, History } from './history.ts';
import { judge, type Violation } from './judge.ts';
import { createOperators, type Operators } from './operators.ts';
import { settle } from './settle.ts';
import { createTasks } from './tasks.ts';
import { startVisitors } from './visitors.ts';
import { startWorld, type World } from './world.ts';

export type Round = {
  history: History;
  violations: Violation[];
  /** Why nobody can say whether the round settles; null if it does, or is stuck. */
  noVerdict: string | null;
  /** How often each thing was done. */
  counts: Record<string, number>;
  durationMs: number;
  /** The last lines of each program. */
  lastWords: string;
};

type RoundOptions = {
  log?: (line: string) => void;
  /** Ends the round, and everything that it started. */
  signal?: AbortSignal | undefined;
  /** The folder of another build, which programs run until a restart. */
  from?: string | undefined;
};

/** Plays a plan in a world of its own, waits until all is settled, and judges what was recorded. */
export async function playRound(plan: Plan, { log = () => {}, signal, from }: RoundOptions = {}): Promise<Round> {
  const world = await startWorld(plan, from);
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
  });
  try {
    return await Promise.race([playIn(world, plan, log), aborted]);
  } finally {
    await world.stop();
  }
}

async function playIn(world: World, plan: Plan, log: (line: string) => void): Promise<Round> {
  const startedAtMs = Date.now();
  const nowMs = (): number => Date.now() - startedAtMs;
  const views: History['views'][number][] = [];
  const faults: Fault[] = [];
  const visitors = startVisitors(world.places, views, nowMs);
  const operators = createOperators(world, views, nowMs);
  await playSteps(plan.steps, { world, operators, faults, nowMs, log });
  const fromMs = nowMs();
  const upgraded = await world.upgrade();
  faults.push(...upgraded.map((victim) => ({ victim, kind: 'upgrade', fromMs, untilMs: nowMs() })));
  const ending = await settle(world, operators, nowMs, log);
  await visitors.stop();
  const { edits, publishes, commands } = operators;
  const places = world.places.map(({ read: _, merge: __, ...setup }) => setup);
  const history = { places, edits, publishes, commands, faults, views, ending };
  return {
    history,
    violations: judge(history),
    noVerdict: ending.isMoving ? `it still changes: ${ending.unsettled.join('; ')}` : null,
    counts: countsOf(history),
    durationMs: nowMs(),
    lastWords: world.programs.lastWords(),
  };
}

type Play = {
  world: World;
  operators: Operators;
  faults: Fault[];
  nowMs: () => number;
  log: (line: string) => void;
};

/** Resolves when all faults are over and every command has its response. */
async function playSteps(steps: readonly Step[], play: Play): Promise<void> {
  const running = createTasks();
  const suffering = new Set<string>();
  for (const step of steps) {
    await sleep(step.afterMs);
    play.log(`${String(play.nowMs()).padStart(7)} ms ${describeStep(step)}`);
    if (step.do === 'fault') running.add(suffer(step, play, suffering));
    else play.operators.act(step);
  }
  await running.end();
  await play.operators.allAnswered();
}

async function suffer(
  { victim, kind, lastsMs }: Extract<Step, { do: 'fault' }>,
  { world, faults, nowMs }: Play,
  suffering: Set<string>,
): Promise<void> {
  const begin = world.victims.get(victim);
  if (begin === undefined) throw new Error(`There is no victim ${victim}`);
  const all = victim === 'temporal' && kind === 'restore' ? [victim, ...WORKERS] : [victim];
  if (all.some((each) => suffering.has(each))) return;
  for (const each of all) suffering.add(each);
  const fault = { victim, kind, fromMs: nowMs(), untilMs: Number.POSITIVE_INFINITY };
  faults.push(fault);
  const heal = await begin(kind);
  await sleep(lastsMs);
  await heal();
  fault.untilMs = nowMs();
  for (const each of all) suffering.delete(each);
}

function countsOf({ publishes, commands, faults, views, ending }: History): Record<string, number> {
  const states = Object.values(ending.sites);
  return {
    publishes: publishes.length,
    accepted: publishes.filter(({ acceptedMs }) => acceptedMs !== null).length,
    sends: publishes.reduce((sum, { sends }) => sum + sends, 0),
    commands: commands.length,
    faults: faults.length,
    exports: states.reduce((sum, { completedJobs }) => sum + completedJobs.length, 0),
    views: views.length,
    sites: SITES.length,
  };
}
