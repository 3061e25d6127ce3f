import { startGeneratedSite } from '../../../test/helpers/generated-site.ts';
import { median } from '../../statistics.ts';
import { type ExportBench, measureFullExport } from '../bench.ts';
import { type RowResult, secondsText } from '../figure.ts';
import { interleave } from '../interleave.ts';
import type { MeasuredExport } from '../product.ts';

const DELAY_MS = 50;
/** Connections of one worker process to the origin: few, so that the origin's latency dominates. */
const CONNECTIONS = 8;
const WARM_UP_PAGES = 300;

/** Two worker processes against one, on a slow origin with few connections per worker. */
export async function workersRow(bench: ExportBench, pages: number): Promise<RowResult> {
  const site = await startGeneratedSite({ pages, delayMs: DELAY_MS });
  bench.lifetime.add(site.stop);
  const quick = await startGeneratedSite({ pages: Math.min(pages, WARM_UP_PAGES) });
  bench.lifetime.add(quick.stop);
  const run = async (count: 1 | 2): Promise<MeasuredExport> => {
    await (await bench.product()).runWorkers(count, { EXPORT_CONNECTIONS: String(CONNECTIONS) });
    await measureFullExport(bench, quick.url, `workers: ${count}, to warm up`);
    return await measureFullExport(bench, site.url, `workers: ${count}`);
  };
  const { one, two } = await interleave(bench.runs, { one: () => run(1), two: () => run(2) });
  await (await bench.product()).runWorkers(1);
  const [ours, theirs] = [two, one].map((runs) => median(runs.map(({ seconds }) => seconds)));
  return {
    figures: [
      {
        measure: `${pages.toLocaleString('en')} generated pages at ${DELAY_MS} ms, two workers against one`,
        ours: secondsText(ours ?? Number.NaN),
        theirs: secondsText(theirs ?? Number.NaN),
        // The speed-up, so one worker's time is the numerator.
        value: (theirs ?? Number.NaN) / (ours ?? Number.NaN),
        goal: { is: 'at least', bound: 1.7 },
      },
    ],
    notes: [`Two workers: each has at most ${CONNECTIONS} connections to the origin (EXPORT_CONNECTIONS).`],
    samples: { one, two },
  };
}
