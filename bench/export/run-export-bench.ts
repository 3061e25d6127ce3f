import { type Lifetime, withCleanups } from '../with-cleanups.ts';
import type { ExportBench } from './bench.ts';
import type { RowResult } from './figure.ts';
import { findManuals, type ManualName } from './manuals.ts';
import { startNginxSite } from './nginx-site.ts';
import { type ObjectsOption, type Product, startProduct } from './product.ts';
import type { CountingSite } from './requests.ts';
import { incrementalRow, oneShotIncrementalRow } from './rows/incremental.ts';
import { SPEED_ROWS, speedRow } from './rows/manual-speed.ts';
import { requestsRow } from './rows/requests.ts';
import { scaleRow } from './rows/scale.ts';
import { workersRow } from './rows/workers.ts';

const BOTH: readonly ManualName[] = ['postgresql', 'openjdk'];

/** The rows in the table's order: the manuals that each needs, and how it is measured. */
const ROWS = {
  postgresql: { manuals: ['postgresql'], run: async (bench) => [await speedRow(SPEED_ROWS.postgresql, bench)] },
  'cold-up': { manuals: ['postgresql'], run: async (bench) => [await speedRow(SPEED_ROWS['cold-up'], bench)] },
  latency: { manuals: ['postgresql'], run: async (bench) => [await speedRow(SPEED_ROWS.latency, bench)] },
  openjdk: { manuals: ['openjdk'], run: async (bench) => [await speedRow(SPEED_ROWS.openjdk, bench)] },
  incremental: {
    manuals: BOTH,
    run: async (bench) => [await incrementalRow(bench, 'postgresql'), await incrementalRow(bench, 'openjdk')],
  },
  'one-shot': { manuals: ['postgresql'], run: async (bench) => [await speedRow(SPEED_ROWS['one-shot'], bench)] },
  'one-shot-latency': {
    manuals: ['postgresql'],
    run: async (bench) => [await speedRow(SPEED_ROWS['one-shot-latency'], bench)],
  },
  'one-shot-openjdk': {
    manuals: ['openjdk'],
    run: async (bench) => [await speedRow(SPEED_ROWS['one-shot-openjdk'], bench)],
  },
  'one-shot-incremental': {
    manuals: ['openjdk'],
    run: async (bench) => [await oneShotIncrementalRow(bench, 'openjdk')],
  },
  scale: { manuals: [], run: async (bench) => [await scaleRow(bench)] },
  workers: { manuals: [], run: async (bench, { workerPages }) => [await workersRow(bench, workerPages)] },
  requests: { manuals: BOTH, run: async (bench) => [await requestsRow(bench, BOTH)] },
} as const satisfies Record<string, { manuals: readonly ManualName[]; run: MeasureRow }>;

type MeasureRow = (bench: ExportBench, options: ExportBenchOptions) => Promise<RowResult[]>;

export type RowName = keyof typeof ROWS;
export const ROW_NAMES: readonly RowName[] = [
  'postgresql',
  'cold-up',
  'latency',
  'openjdk',
  'incremental',
  'one-shot',
  'one-shot-latency',
  'one-shot-openjdk',
  'one-shot-incremental',
  'scale',
  'workers',
  'requests',
];

export interface ExportBenchOptions {
  only: readonly RowName[];
  runs: number;
  /** Pages of the large generated site; the small one has a tenth. */
  pages: number;
  /** Pages of the generated site that two workers share. */
  workerPages: number;
  objects: ObjectsOption;
  /** Folders to use instead of the Debian packages' folders. */
  manuals?: Readonly<Record<ManualName, string>>;
}

/** Measures the rows one after the other on one platform. Always stops and removes everything it started. */
export async function runExportBench(
  options: ExportBenchOptions,
  { progress }: { progress: (text: string) => void },
): Promise<RowResult[]> {
  const rows = ROW_NAMES.filter((name) => options.only.includes(name));
  const folders = options.manuals ?? (await findManuals([...new Set(rows.flatMap((name) => ROWS[name].manuals))]));
  return await withCleanups(async (lifetime) => {
    let starting: Promise<Product> | undefined;
    const product = (): Promise<Product> => {
      if (starting === undefined) progress('building if needed, and starting the platform');
      starting ??= startProduct(options.objects, lifetime);
      return starting;
    };
    const bench: ExportBench = {
      ...{ product, lifetime, progress },
      ...{ runs: options.runs, pages: options.pages },
      ...servedManuals(folders, lifetime),
    };
    const results: RowResult[] = [];
    for (const name of rows) results.push(...(await ROWS[name].run(bench, options)));
    return results;
  });
}

function servedManuals(
  folders: Partial<Record<ManualName, string>>,
  lifetime: Lifetime,
): Pick<ExportBench, 'folder' | 'site'> {
  const served = new Map<ManualName, Promise<CountingSite>>();
  const folder = (manual: ManualName): string => {
    const found = folders[manual];
    if (found === undefined) throw new Error(`The row uses ${manual} without listing it in \`manuals\``);
    return found;
  };
  return {
    folder,
    site: async (manual) => {
      const site = served.get(manual) ?? startNginxSite(folder(manual), lifetime);
      served.set(manual, site);
      return await site;
    },
  };
}
