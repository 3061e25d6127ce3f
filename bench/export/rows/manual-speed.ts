import { median } from '../../statistics.ts';
import { type ExportBench, measureFullExport, warmUp } from '../bench.ts';
import { coldUpExport } from '../cold-up.ts';
import { putFarAway } from '../far-away.ts';
import { type Figure, type Goal, type RowResult, secondsText } from '../figure.ts';
import { interleave } from '../interleave.ts';
import { MANUALS, type ManualName } from '../manuals.ts';
import { oneShotExport } from '../one-shot.ts';
import { type PeerRun, websiteScraper, wgetAndTar } from '../peers.ts';
import type { Usage } from '../process-usage.ts';
import { usageText } from '../process-usage.ts';

interface SpeedRow {
  manual: ManualName;
  /** What exports: the warm platform, a `galley up` that was just started, or the command `galley export`, cold each time. */
  by: 'platform' | 'up' | 'command';
  /** One-way delay between every contender and the origin. */
  delayMs: number;
  /** How long an export may take relative to each peer. */
  goals: { wget: Goal; scraper?: Goal };
  /** Bound for the peak memory of the exporting process, in MB. */
  memory?: Goal;
}

interface OurRun extends Usage {
  seconds: number;
  pageCount: number;
}

const PEERS = {
  wget: { title: 'wget and tar', run: wgetAndTar },
  scraper: { title: 'website-scraper', run: websiteScraper },
} as const;

export const SPEED_ROWS = {
  postgresql: {
    manual: 'postgresql',
    by: 'platform',
    delayMs: 0,
    goals: { wget: { is: 'at most', bound: 1 }, scraper: { is: 'at most', bound: 1 } },
  },
  latency: {
    manual: 'postgresql',
    by: 'platform',
    delayMs: 10,
    goals: {
      wget: { is: 'at most', bound: 1 / 12, written: '1/12' },
      scraper: { is: 'at most', bound: 1 / 3, written: '1/3' },
    },
  },
  'cold-up': {
    manual: 'postgresql',
    by: 'up',
    delayMs: 0,
    goals: { wget: { is: 'at most', bound: 1.2 } },
  },
  openjdk: {
    manual: 'openjdk',
    by: 'platform',
    delayMs: 0,
    goals: { wget: { is: 'at most', bound: 1 / 3, written: '1/3' } },
    memory: { is: 'under', bound: 512 },
  },
  'one-shot': {
    manual: 'postgresql',
    by: 'command',
    delayMs: 0,
    goals: { wget: { is: 'at most', bound: 0.9 } },
    memory: { is: 'at most', bound: 300 },
  },
  'one-shot-latency': {
    manual: 'postgresql',
    by: 'command',
    delayMs: 10,
    goals: { wget: { is: 'at most', bound: 1 / 12, written: '1/12' } },
  },
  'one-shot-openjdk': {
    manual: 'openjdk',
    by: 'command',
    delayMs: 0,
    goals: { wget: { is: 'at most', bound: 1 / 5, written: '1/5' } },
    memory: { is: 'at most', bound: 300 },
  },
} as const satisfies Record<string, SpeedRow>;

const OURS = {
  platform: async (bench: ExportBench, origin: string, name: string): Promise<OurRun> => {
    const { workers, ...run } = await measureFullExport(bench, origin, name);
    const cpuSeconds = workers.reduce((sum, worker) => sum + worker.cpuSeconds, 0);
    return { ...run, peakMb: Math.max(...workers.map(({ peakMb }) => peakMb)), cpuSeconds };
  },
  up: (bench: ExportBench, origin: string, name: string) => coldUpExport(bench, { origin, what: name }),
  command: (bench: ExportBench, origin: string, name: string) => oneShotExport(bench, { origin, what: name }),
} satisfies Record<SpeedRow['by'], unknown>;

const BY = { platform: '', up: 'first export in galley up, ', command: 'galley export, ' } as const;

/** Compares an export of a manual with other tools, in turn. */
export async function speedRow(row: SpeedRow, bench: ExportBench): Promise<RowResult> {
  const near = await bench.site(row.manual);
  const { origin } = row.delayMs === 0 ? near : await putFarAway(near, row.delayMs, bench.lifetime);
  const name = `${BY[row.by]}${MANUALS[row.manual].title}, ${2 * row.delayMs} ms`;
  if (row.by === 'platform') await warmUp(bench, origin, name);

  const against = async (peer: keyof typeof PEERS): Promise<PeerRun> => {
    const run = await PEERS[peer].run(origin, bench.lifetime.signal);
    const { seconds, pageCount } = run;
    bench.progress(`${name}: ${PEERS[peer].title}: ${secondsText(seconds)}, ${pageCount} pages; ${usageText(run)}`);
    return run;
  };
  const scraper: Goal | undefined = row.goals.scraper;
  const galley: OurRun[] = [];
  const peers = await interleave<string, PeerRun | undefined>(bench.runs, {
    galley: async () => void galley.push(await OURS[row.by](bench, origin, name)),
    wget: () => against('wget'),
    ...(scraper && { scraper: () => against('scraper') }),
  });

  const ours = median(galley.map((run) => run.seconds));
  const compared = (peer: keyof typeof PEERS, goal: Goal): Figure => {
    const theirs = median((peers[peer] ?? []).flatMap((run) => (run ? [run.seconds] : [])));
    const measure = `${name}, against ${PEERS[peer].title}`;
    return { measure, ours: secondsText(ours), theirs: secondsText(theirs), value: ours / theirs, goal };
  };
  const figures = [compared('wget', row.goals.wget)];
  if (scraper) figures.push(compared('scraper', scraper));
  if (row.memory) {
    const peak = Math.max(...galley.map(({ peakMb }) => peakMb));
    const measure = `${name}, peak memory in MB`;
    figures.push({ measure, ours: `${peak.toFixed(0)} MB`, theirs: '', value: peak, goal: row.memory });
  }
  return { figures, notes: [], samples: { galley, wget: peers.wget ?? [], scraper: peers.scraper ?? [] } };
}
