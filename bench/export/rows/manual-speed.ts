import { median } from '../../statistics.ts';
import { type ExportBench, measureFullExport, warmUp } from '../bench.ts';
import { putFarAway } from '../far-away.ts';
import { type Figure, type Goal, type RowResult, secondsText } from '../figure.ts';
import { interleave } from '../interleave.ts';
import { MANUALS, type ManualName } from '../manuals.ts';
import { type PeerRun, websiteScraper, wgetAndTar } from '../peers.ts';

interface SpeedRow {
  manual: ManualName;
  /** Each way, between every contender and the origin. */
  delayMs: number;
  /** How long an export may take, in times of each peer that takes part. */
  goals: { wget: Goal; scraper?: Goal };
  /** For the worker's peak; it needs no peer. */
  memory?: Goal;
}

const PEERS = {
  wget: { title: 'wget and tar', run: wgetAndTar },
  scraper: { title: 'website-scraper', run: websiteScraper },
} as const;

export const SPEED_ROWS = {
  postgresql: {
    manual: 'postgresql',
    delayMs: 0,
    goals: { wget: { is: 'at most', bound: 1 }, scraper: { is: 'at most', bound: 1 } },
  },
  latency: {
    manual: 'postgresql',
    delayMs: 10,
    goals: {
      wget: { is: 'at most', bound: 1 / 12, written: '1/12' },
      scraper: { is: 'at most', bound: 1 / 3, written: '1/3' },
    },
  },
  openjdk: {
    manual: 'openjdk',
    delayMs: 0,
    goals: { wget: { is: 'at most', bound: 1 / 3, written: '1/3' } },
    memory: { is: 'under', bound: 512 },
  },
} as const satisfies Record<string, SpeedRow>;

/** An export of a manual against what others need for the same, in turn. */
export async function speedRow(row: SpeedRow, bench: ExportBench): Promise<RowResult> {
  const near = await bench.site(row.manual);
  const { origin } = row.delayMs === 0 ? near : await putFarAway(near, row.delayMs, bench.lifetime);
  const name = `${MANUALS[row.manual].title}, ${2 * row.delayMs} ms`;
  await warmUp(bench, origin, name);

  const against = async (peer: keyof typeof PEERS): Promise<PeerRun> => {
    const run = await PEERS[peer].run(origin, bench.lifetime.signal);
    const { seconds, pageCount, peakMb, cpuSeconds } = run;
    const used = `${peakMb.toFixed(0)} MB, ${cpuSeconds.toFixed(2)} s of processor`;
    bench.progress(`${name}: ${PEERS[peer].title}: ${secondsText(seconds)}, ${pageCount} pages; ${used}`);
    return run;
  };
  const scraper: Goal | undefined = row.goals.scraper;
  const galley: Awaited<ReturnType<typeof measureFullExport>>[] = [];
  const peers = await interleave<string, PeerRun | undefined>(bench.runs, {
    galley: async () => void galley.push(await measureFullExport(bench, origin, name)),
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
    const peak = Math.max(...galley.flatMap((run) => run.workers.map(({ peakMb }) => peakMb)));
    const measure = `${name}, the worker's peak memory in MB`;
    figures.push({ measure, ours: `${peak.toFixed(0)} MB`, theirs: '', value: peak, goal: row.memory });
  }
  return { figures, notes: [], samples: { galley, wget: peers.wget ?? [], scraper: peers.scraper ?? [] } };
}
