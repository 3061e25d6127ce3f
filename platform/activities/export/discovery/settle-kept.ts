import { type LeasedUrl, settleUrls } from '../../../store/frontier.ts';
import type { Admission } from '../crawl/admission.ts';
import { putInLine } from '../crawl/put-in-line.ts';
import { placeFiles } from '../crawl/segment.ts';
import { createStrongestUses } from '../crawl/strongest-uses.ts';
import { visit } from '../crawl/visit.ts';
import type { ExportDeps } from '../export-deps.ts';
import type { ExportSettings } from '../settings.ts';
import type { KeepingFetcher } from './keep-answers.ts';

/** Settles addresses whose answers discovery has kept, as a crawl settles them, and puts what they lead to in line. */
export async function settleKept(
  deps: ExportDeps,
  options: {
    settings: ExportSettings;
    token: string;
    leased: readonly LeasedUrl[];
    fetcher: KeepingFetcher;
    admission: Admission;
    signal: AbortSignal;
  },
): Promise<void> {
  const { settings, token, leased, fetcher, admission, signal } = options;
  if (leased.length === 0) return;
  const { jobId } = settings;
  const visits = await Promise.all(
    leased.map((each) => visit({ ...deps, fetcher }, { settings, leased: each, signal })),
  );
  const uses = createStrongestUses();
  for (const { leased: from, resources } of visits) {
    for (const resource of resources) uses.add(admission.admit(resource, from));
  }
  const lease = { jobId, token, leaseMs: deps.limits.leaseMs };
  // What they lead to comes first: a worker that dies in between has another one visit them again.
  await putInLine(deps.db, lease, uses.list());
  await settleUrls(deps.db, { ...lease, settled: await placeFiles(deps.segments, jobId, visits), found: [] });
}
