import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../../statistics.ts';
import { type ExportBench, measureExport, measureFullExport, warmUp } from '../bench.ts';
import { editPages } from '../edit-pages.ts';
import { type Goal, type RowResult, secondsText } from '../figure.ts';
import { MANUALS, type ManualName } from '../manuals.ts';
import { startNginxSite } from '../nginx-site.ts';
import type { MeasuredExport } from '../product.ts';

const SHARE = 0.01;
/** Warm-up exports that don't count. */
const WARM_UPS = 3;
const GOAL: Goal = { is: 'at most', bound: 1 / 5, written: '1/5' };

/**
 * After warming up, each round changes 1 % of the pages, then exports them incrementally and, as a new project, in
 * full.
 */
export async function incrementalRow(bench: ExportBench, manual: ManualName): Promise<RowResult> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-edited-'));
  bench.lifetime.add(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  await cp(bench.folder(manual), folder, { recursive: true, dereference: true, preserveTimestamps: true });
  const { origin } = await startNginxSite(folder, bench.lifetime);
  const name = `${MANUALS[manual].title}, 1 % of pages changed`;
  const project = await bench.product.newProject(origin);
  await warmUp(bench, origin, name);
  await measureExport(bench, project, `${name}, the export before`);
  for (let seed = -WARM_UPS; seed < 0; seed += 1) {
    await editPages(folder, { share: SHARE, seed });
    await measureExport(bench, project, `${name}, to warm up`);
  }

  const full: MeasuredExport[] = [];
  const incremental: MeasuredExport[] = [];
  let edited = 0;
  for (let round = 1; round <= bench.runs; round += 1) {
    edited = await editPages(folder, { share: SHARE, seed: round });
    const runs = [
      async () => void full.push(await measureFullExport(bench, origin, `${name}, full`)),
      async () => void incremental.push(await measureExport(bench, project, `${name}, incremental`)),
    ];
    for (const run of round % 2 === 0 ? runs : runs.reverse()) await run();
  }

  const [ours, theirs] = [incremental, full].map((runs) => median(runs.map(({ seconds }) => seconds)));
  const differing = incremental.filter((run, index) => run.contentSha256 !== full[index]?.contentSha256).length;
  return {
    figures: [
      {
        measure: `${name} (${edited}), incremental against full`,
        ours: secondsText(ours ?? Number.NaN),
        theirs: secondsText(theirs ?? Number.NaN),
        value: (ours ?? Number.NaN) / (theirs ?? Number.NaN),
        goal: GOAL,
      },
    ],
    notes: [
      differing === 0
        ? `${name}: each incremental export had the content of the full one.`
        : `${name}: ${differing} of ${bench.runs} incremental exports had OTHER CONTENT than the full one.`,
    ],
    samples: { full, incremental },
  };
}
