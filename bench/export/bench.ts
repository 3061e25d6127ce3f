import type { Lifetime } from '../with-cleanups.ts';
import type { Project } from './export-client.ts';
import type { ManualName } from './manuals.ts';
import { usageText } from './process-usage.ts';
import type { MeasuredExport, Product } from './product.ts';
import type { CountingSite } from './requests.ts';
import { stagesText } from './stages.ts';

/** The context of every row. */
export interface ExportBench {
  /** Started when a row first needs it. */
  product(): Promise<Product>;
  lifetime: Lifetime;
  runs: number;
  /** Pages of the large generated site; the small one has a tenth. */
  pages: number;
  folder(manual: ManualName): string;
  /** The site that serves the manual. All rows share it. */
  site(manual: ManualName): Promise<CountingSite>;
  progress(text: string): void;
}

/** Exports a project and prints the result. */
export async function measureExport(bench: ExportBench, project: Project, what: string): Promise<MeasuredExport> {
  const measured = await (await bench.product()).export(project);
  const workers = measured.workers.map(usageText);
  bench.progress(
    `${what}: galley: ${measured.seconds.toFixed(2)} s, ${measured.pageCount} pages; worker: ${workers.join('; ')}`,
  );
  bench.progress(`  ${stagesText(measured.stages)}`);
  return measured;
}

/** V8 optimizes hot code while it runs. After this many pages most of the exporter is optimized. */
const WARM_UP_PAGES = 5_000;

/** Warms up the worker with exports that don't count. */
export async function warmUp(bench: ExportBench, origin: string, name: string): Promise<void> {
  // Fewer measured runs also mean fewer warm-up runs.
  const warmUpPages = Math.min(bench.pages, WARM_UP_PAGES);
  let pageCount = 0;
  while (pageCount < warmUpPages) {
    pageCount += (await measureFullExport(bench, origin, `${name}, to warm up`)).pageCount;
  }
}

/** Exports the whole site as a new project, so nothing can be reused. */
export async function measureFullExport(bench: ExportBench, origin: string, what: string): Promise<MeasuredExport> {
  return await measureExport(bench, await (await bench.product()).newProject(origin), what);
}
