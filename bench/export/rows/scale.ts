import { startGeneratedSite } from '../../../test/helpers/generated-site.ts';
import { median } from '../../statistics.ts';
import { type ExportBench, measureFullExport } from '../bench.ts';
import type { RowResult } from '../figure.ts';
import { interleave } from '../interleave.ts';
import type { MeasuredExport } from '../product.ts';

const WARM_UP_PAGES = 1_000;

/** Compares memory and speed between two sites, one ten times as large. Each run has a new, warmed-up worker. */
export async function scaleRow(bench: ExportBench): Promise<RowResult> {
  const run = async (pages: number): Promise<MeasuredExport> => {
    await (await bench.product()).runWorkers(1);
    await exportGenerated(bench, Math.min(pages, WARM_UP_PAGES), 'generated, to warm up');
    return await exportGenerated(bench, pages, 'generated');
  };
  const [few, many] = [Math.ceil(bench.pages / 10), bench.pages];
  const { small, large } = await interleave(bench.runs, { small: () => run(few), large: () => run(many) });
  const peak = (runs: readonly MeasuredExport[]): number => median(runs.map(({ workers }) => workers[0]?.peakMb ?? 0));
  const pace = (runs: readonly MeasuredExport[]): number =>
    median(runs.map(({ pageCount, seconds }) => pageCount / seconds));
  const sites = `${many.toLocaleString('en')} generated pages against ${few.toLocaleString('en')}`;
  return {
    figures: [
      {
        measure: `${sites}, the worker's peak memory`,
        ours: `${peak(large).toFixed(0)} MB`,
        theirs: `${peak(small).toFixed(0)} MB`,
        value: peak(large) / peak(small),
        goal: { is: 'at most', bound: 1.3 },
      },
      {
        measure: `${sites}, pages a second`,
        ours: pace(large).toFixed(0),
        theirs: pace(small).toFixed(0),
        value: pace(large) / pace(small),
        goal: { is: 'at least', bound: 0.8 },
      },
    ],
    notes: [],
    samples: { small, large },
  };
}

async function exportGenerated(bench: ExportBench, pages: number, what: string): Promise<MeasuredExport> {
  const site = await startGeneratedSite({ pages });
  bench.lifetime.add(site.stop);
  try {
    return await measureFullExport(bench, site.url, `${what}, ${pages} pages`);
  } finally {
    await site.stop();
  }
}
