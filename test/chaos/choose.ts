import { pick, share } from '../helpers/generated-site/seeded.ts';

/** A round's choices. The same seed makes the same ones; what they meet depends on the machine. */

export const SITES = ['handbook', 'manual'] as const;
export type Site = (typeof SITES)[number];

/**
 * `stop`: SIGSTOP, later SIGCONT. `end`: SIGTERM, and a new start. `full-disk`: no file of the process grows; `full`: of all of
 * them. `clock-…`: the process's clock jumps, later back. `cut`: connections are closed and refused. `hang`: no byte passes.
 * `restore`: in the end the server has the data of the beginning again.
 */
export type FaultKind =
  | 'kill'
  | 'stop'
  | 'end'
  | 'full-disk'
  | 'full'
  | 'clock-ahead'
  | 'clock-back'
  | 'cut'
  | 'hang'
  | 'restore'
  | 'lose-answer'
  | 'error';

const PROCESS: readonly FaultKind[] = ['kill', 'kill', 'stop', 'stop', 'end', 'full-disk', 'clock-ahead', 'clock-back'];
const SERVER: readonly FaultKind[] = ['kill', 'cut', 'hang'];
const STORE: readonly FaultKind[] = [...SERVER, 'restore'];
const ORIGIN: readonly FaultKind[] = ['error', 'hang'];

const ALWAYS: Readonly<Record<string, readonly FaultKind[]>> = {
  api: PROCESS,
  worker: PROCESS,
  platform: PROCESS,
  'platform-worker': PROCESS,
  'deployment-handbook': PROCESS,
  'deployment-manual': PROCESS,
  temporal: STORE,
  postgres: STORE,
  disk: ['full'],
  'admin-api': ['cut', 'lose-answer', 'error'],
  'origin-handbook': ORIGIN,
  'origin-manual': ORIGIN,
};

/** What each victim can suffer. A deployment's process is named after its place. */
export function victimsOf({ objects, sites }: Pick<Plan, 'objects' | 'sites'>): Record<string, readonly FaultKind[]> {
  const served = SITES.filter((site) => SERVED.has(sites[site].second));
  const seconds = Object.fromEntries(served.map((site) => [`${sites[site].second}-${site}`, PROCESS]));
  return { ...ALWAYS, ...(objects === 's3' && { s3: SERVER }), ...seconds };
}

export type SteerAction = 'export' | 'refresh' | 'pause' | 'resume' | 'unlock' | 'approve' | 'reject';

/** `back`: how many of the versions seen before the newest one. */
type Deed =
  | { do: 'publish'; site: Site; fewerPages: boolean; resends: boolean }
  | { do: 'fault'; victim: string; kind: FaultKind; lastsMs: number }
  | { do: 'steer'; site: Site; action: SteerAction }
  | { do: 'lock'; site: Site }
  | { do: 'rollback'; site: Site; back: number; lock: boolean }
  | { do: 'pin'; site: Site; back: number }
  | { do: 'unpin'; site: Site }
  | { do: 'merge'; site: Site };

/** `afterMs`: since the step before. */
export type Step = Deed & { afterMs: number };

/** `merge`: git by pull requests, which a person merges. */
const SECOND_KINDS = ['directory', 'git', 'merge', 'http', 'airgap', 's3'] as const;
export type SecondKind = (typeof SECOND_KINDS)[number];

/** Those with a `galley deployment`. */
const SERVED: ReadonlySet<SecondKind> = new Set(['git', 'merge', 'http', 'airgap']);

/** `second`: the kind of the deployment beside the values file. */
export type SiteChoice = {
  whenBusy: 'queue' | 'cancel';
  rollback: 'auto' | 'never';
  second: SecondKind;
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

type Choice = (random: Random, victims: Readonly<Record<string, readonly FaultKind[]>>) => Deed;

const fault: Choice = ({ pick, between }, victims) => {
  const [victim, kinds] = pick(Object.entries(victims));
  return { do: 'fault', victim, kind: pick(kinds), lastsMs: between(300, 9_000) };
};

const CHOICES: readonly [weight: number, choose: Choice][] = [
  [12, fault],
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
  [2, ({ pick }) => ({ do: 'merge', site: pick(SITES) })],
];
const CHOSEN = CHOICES.flatMap(([weight, choose]) => Array.from({ length: weight }, () => choose));

const STEPS = 28;

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
    second: random.pick(SECOND_KINDS.filter((kind) => kind !== 's3' || objects === 's3')),
  });
  const sites = { handbook: settings(), manual: settings() };
  const victims = victimsOf({ objects, sites });
  const first = SITES.map((site): Step => ({ do: 'publish', site, fewerPages: false, resends: false, afterMs: 0 }));
  const others = Array.from({ length: STEPS - first.length }, (): Step => {
    return { ...random.pick(CHOSEN)(random, victims), afterMs: random.between(100, 2_000) };
  });
  return { seed, objects, sites, steps: [...first, ...others] };
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
