import { pick, share } from '../helpers/generated-site/seeded.ts';

/** A round's choices. The same seed makes the same ones; what they meet depends on the machine. */

export const SITES = ['handbook', 'manual'] as const;
export type Site = (typeof SITES)[number];

/**
 * `stop`: SIGSTOP, later SIGCONT. `full-disk`: no file grows. `clock-…`: the process's clock jumps, later back. `cut`:
 * connections are closed and refused. `hang`: no byte passes.
 */
export type FaultKind =
  | 'kill'
  | 'stop'
  | 'full-disk'
  | 'clock-ahead'
  | 'clock-back'
  | 'cut'
  | 'hang'
  | 'lose-answer'
  | 'error';

const PROCESS: readonly FaultKind[] = ['kill', 'kill', 'stop', 'stop', 'full-disk', 'clock-ahead', 'clock-back'];
const SERVER: readonly FaultKind[] = ['kill', 'cut', 'hang'];

/** What each victim can suffer. A deployment's process is named after its place. */
export const FAULTS: Readonly<Record<string, readonly FaultKind[]>> = {
  api: PROCESS,
  worker: PROCESS,
  platform: PROCESS,
  'platform-worker': PROCESS,
  'deployment-handbook': PROCESS,
  'deployment-manual': PROCESS,
  temporal: SERVER,
  postgres: SERVER,
  s3: SERVER,
  'admin-api': ['cut', 'lose-answer', 'error'],
};

export type SteerAction = 'export' | 'refresh' | 'pause' | 'resume' | 'unlock' | 'approve' | 'reject';

/** `back`: how many of the versions seen before the newest one. */
type Deed =
  | { do: 'publish'; site: Site; fewerPages: boolean; resends: boolean }
  | { do: 'fault'; victim: string; kind: FaultKind; lastsMs: number }
  | { do: 'steer'; site: Site; action: SteerAction }
  | { do: 'lock'; site: Site }
  | { do: 'rollback'; site: Site; back: number; lock: boolean }
  | { do: 'pin'; site: Site; back: number }
  | { do: 'unpin'; site: Site };

/** `afterMs`: since the step before. */
export type Step = Deed & { afterMs: number };

/** `second`: the kind of the deployment beside the values file. */
export type SiteChoice = {
  whenBusy: 'queue' | 'cancel';
  rollback: 'auto' | 'never';
  second: 'directory' | 'git';
};

export type Plan = {
  seed: number;
  objects: 'files' | 's3';
  sites: Readonly<Record<Site, SiteChoice>>;
  steps: readonly Step[];
};

type Random = {
  pick<T>(from: readonly T[]): T;
  between(least: number, most: number): number;
};

type Choice = (random: Random, victims: readonly string[]) => Deed;

const fault: Choice = ({ pick, between }, victims) => {
  const victim = pick(victims);
  return { do: 'fault', victim, kind: pick(FAULTS[victim] ?? PROCESS), lastsMs: between(300, 6_000) };
};

const CHOICES: readonly [weight: number, choose: Choice][] = [
  [8, fault],
  [
    6,
    ({ pick }) => ({
      do: 'publish',
      site: pick(SITES),
      fewerPages: pick([false, false, true]),
      resends: pick([false, true]),
    }),
  ],
  [1, ({ pick }) => ({ do: 'steer', site: pick(SITES), action: pick(['export', 'refresh', 'pause', 'resume']) })],
  [2, ({ pick }) => ({ do: 'steer', site: pick(SITES), action: pick(['approve', 'approve', 'reject']) })],
  [1, ({ pick }) => ({ do: 'lock', site: pick(SITES) })],
  [1, ({ pick }) => ({ do: 'steer', site: pick(SITES), action: 'unlock' })],
  [1, ({ pick, between }) => ({ do: 'rollback', site: pick(SITES), back: between(1, 3), lock: pick([false, true]) })],
  [1, ({ pick, between }) => ({ do: 'pin', site: pick(SITES), back: between(0, 2) })],
  [1, ({ pick }) => ({ do: 'unpin', site: pick(SITES) })],
];
const CHOSEN = CHOICES.flatMap(([weight, choose]) => Array.from({ length: weight }, () => choose));

const STEPS = 24;

export function choosePlan(seed: number): Plan {
  let count = 0;
  const next = (): number => share(seed, ++count);
  const random: Random = {
    pick: (from) => pick(from, next()),
    between: (least, most) => least + Math.floor((most - least + 1) * next()),
  };
  const objects = random.pick(['files', 's3'] as const);
  const settings = (): SiteChoice => ({
    whenBusy: random.pick(['queue', 'cancel']),
    rollback: random.pick(['auto', 'never']),
    second: random.pick(['directory', 'git']),
  });
  const victims = Object.keys(FAULTS).filter((victim) => victim !== 's3' || objects === 's3');
  const first = SITES.map((site): Step => ({ do: 'publish', site, fewerPages: false, resends: false, afterMs: 0 }));
  const others = Array.from({ length: STEPS - first.length }, (): Step => {
    return { ...random.pick(CHOSEN)(random, victims), afterMs: random.between(100, 2_000) };
  });
  return { seed, objects, sites: { handbook: settings(), manual: settings() }, steps: [...first, ...others] };
}

/** One line per step. */
export function describePlan({ seed, objects, sites, steps }: Plan): string {
  const setups = SITES.map((site) => {
    const { whenBusy, rollback, second } = sites[site];
    return `${site}: ${second}, ${whenBusy}, rollback ${rollback}`;
  });
  return [`seed ${seed} (${objects}; ${setups.join('; ')})`, ...steps.map((step) => `  ${describeStep(step)}`)].join(
    '\n',
  );
}

export function describeStep({ afterMs, ...deed }: Step): string {
  const details = Object.entries(deed).filter(([key, value]) => key !== 'do' && value !== false);
  const text = details
    .map(([key, value]) => (value === true ? key : key === 'site' ? value : `${key} ${value}`))
    .join(', ');
  return `+${afterMs} ms ${deed.do} ${text}`;
}
