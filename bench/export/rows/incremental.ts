import { cp } from 'node:fs/promises';
import { median } from '../../statistics.ts';
import { temporaryFolder } from '../../with-cleanups.ts';
import { type ExportBench, measureExport, measureFullExport, warmUp } from '../bench.ts';
import { editPages } from '../edit-pages.ts';
import { type Goal, type RowResult, secondsText } from '../figure.ts';
import { MANUALS, type ManualName } from '../manuals.ts';
import { startNginxSite } from '../nginx-site.ts';
import { oneShotExport } from '../one-shot.ts';

const SHARE = 0.01;
/** Warm-up exports that don't count. */
const WARM_UPS = 3;

interface Run {
  seconds: number;
  contentSha256: string;
}

/** A copy of a manual whose pages the row edits. */
interface EditedManual {
  name: string;
  folder: string;
  origin: string;
}

/** Incremental against full exports by the platform, warmed up. */
export async function incrementalRow(bench: ExportBench, manual: ManualName): Promise<RowResult> {
  const edited = await servedCopy(bench, manual);
  const { name, folder, origin } = edited;
  const project = await (await bench.product()).newProject(origin);
  await warmUp(bench, origin, name);
  await measureExport(bench, project, `${name}, previous export`);
  for (let seed = -WARM_UPS; seed < 0; seed += 1) {
    await editPages(folder, { share: SHARE, seed });
    await measureExport(bench, project, `${name}, to warm up`);
  }
  return await compare(bench, edited, {
    full: () => measureFullExport(bench, origin, `${name}, full`),
    incremental: () => measureExport(bench, project, `${name}, incremental`),
    goal: { is: 'at most', bound: 1 / 5, written: '1/5' },
  });
}

/** The same with the command, which starts cold each time and keeps its state in a folder. */
export async function oneShotIncrementalRow(bench: ExportBench, manual: ManualName): Promise<RowResult> {
  const { name: manualName, folder, origin } = await servedCopy(bench, manual);
  const name = `galley export, ${manualName}`;
  const state = await temporaryFolder(bench.lifetime, 'galley-state-');
  await oneShotExport(bench, { origin, what: `${name}, previous export`, state });
  return await compare(
    bench,
    { name, folder, origin },
    {
      full: () => oneShotExport(bench, { origin, what: `${name}, full` }),
      incremental: () => oneShotExport(bench, { origin, what: `${name}, incremental`, state }),
      goal: { is: 'at most', bound: 1 / 8, written: '1/8' },
    },
  );
}

async function servedCopy(bench: ExportBench, manual: ManualName): Promise<EditedManual> {
  const folder = await temporaryFolder(bench.lifetime, 'galley-edited-');
  await cp(bench.folder(manual), folder, { recursive: true, dereference: true, preserveTimestamps: true });
  const { origin } = await startNginxSite(folder, bench.lifetime);
  return { name: `${MANUALS[manual].title}, 1 % of pages changed`, folder, origin };
}

/** Each round changes 1 % of the pages, then exports them incrementally and in full. */
async function compare(
  bench: ExportBench,
  { name, folder }: EditedManual,
  run: { full: () => Promise<Run>; incremental: () => Promise<Run>; goal: Goal },
): Promise<RowResult> {
  const full: Run[] = [];
  const incremental: Run[] = [];
  let edited = 0;
  for (let round = 1; round <= bench.runs; round += 1) {
    edited = await editPages(folder, { share: SHARE, seed: round });
    const runs = [
      async () => void full.push(await run.full()),
      async () => void incremental.push(await run.incremental()),
    ];
    for (const each of round % 2 === 0 ? runs : runs.reverse()) await each();
  }

  const [ours = Number.NaN, theirs = Number.NaN] = [incremental, full].map((runs) =>
    median(runs.map(({ seconds }) => seconds)),
  );
  const differing = incremental.filter(
    ({ contentSha256 }, index) => contentSha256 !== full[index]?.contentSha256,
  ).length;
  return {
    figures: [
      {
        measure: `${name} (${edited}), incremental against full`,
        ours: secondsText(ours),
        theirs: secondsText(theirs),
        value: ours / theirs,
        goal: run.goal,
      },
    ],
    notes: [
      differing === 0
        ? `${name}: each incremental export had the same content as the full one.`
        : `${name}: ${differing} of ${bench.runs} incremental exports DIFFERED from the full one.`,
    ],
    samples: { full, incremental },
  };
}
