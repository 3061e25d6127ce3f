import { type ExportBench, measureFullExport } from '../bench.ts';
import type { Figure, RowResult } from '../figure.ts';
import { MANUALS, type ManualName } from '../manuals.ts';
import { mostOfOneUrl, type RequestCounts } from '../requests.ts';

const OFFENDERS_SHOWN = 10;

/** How often a full export requests the same URL, according to the origin's log. */
export async function requestsRow(bench: ExportBench, manuals: readonly ManualName[]): Promise<RowResult> {
  const figures: Figure[] = [];
  const notes: string[] = [];
  const samples: Record<string, RequestCounts[]> = {};
  for (const manual of manuals) {
    const site = await bench.site(manual);
    const name = `${MANUALS[manual].title}, requests for one URL`;
    const runs: RequestCounts[] = [];
    for (let run = 0; run < bench.runs; run += 1) {
      await site.resetCounts();
      await measureFullExport(bench, site.origin, name);
      runs.push(await site.requestCounts());
    }
    samples[manual] = runs;
    const [urls, most] = [Math.max(...runs.map((run) => run.urls)), Math.max(...runs.map(mostOfOneUrl))];
    const goal = { is: 'exactly', bound: 1 } as const;
    figures.push({ measure: `${name}, at most`, ours: `${most} of ${urls} URLs`, theirs: '', value: most, goal });
    const offenders = new Map(runs.flatMap(({ repeated }) => Object.entries(repeated)));
    for (const [url, count] of [...offenders].slice(0, OFFENDERS_SHOWN)) notes.push(`requested ${count} times: ${url}`);
    if (offenders.size > OFFENDERS_SHOWN) notes.push(`and ${offenders.size - OFFENDERS_SHOWN} more URLs`);
  }
  return { figures, notes, samples };
}
