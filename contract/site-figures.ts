import { z } from 'zod';
import type { ExportRecord } from './site-state.ts';

/** Figures are of so many days, on the sites page and on the dashboard. */
export const FIGURE_DAYS = 30;

/** How long a site's publishes took, and how often an export failed, by the exports that its workflow keeps. */
export const siteFigures = z.object({
  /** The first export that counts: of the last 30 days, or the oldest one that is kept. */
  since: z.string(),
  exports: z.int(),
  failed: z.int(),
  /** From the oldest publish to the first deployment that serves it, or has it if none says what it serves. */
  medianMs: z.number().nullable(),
  p95Ms: z.number().nullable(),
});
export type SiteFigures = z.infer<typeof siteFigures>;

/** Of exports, newest first; null if none ended. */
export function figuresOf(exports: readonly ExportRecord[], nowMs: number): SiteFigures | null {
  const sinceMs = nowMs - FIGURE_DAYS * 86_400_000;
  const ended = exports.filter(({ startedAt, outcome }) => outcome !== null && Date.parse(startedAt) >= sinceMs);
  const [newest, oldest] = [ended[0], ended.at(-1)];
  if (newest === undefined || oldest === undefined) return null;
  const kept = exports.filter(({ number }) => number >= oldest.number && number <= newest.number);
  // Of many failures in a row, only some are kept: a number that is missing failed.
  const missing = newest.number - oldest.number + 1 - kept.length;
  const took = ended.flatMap((each) => servedMs(each) ?? []).sort((a, b) => a - b);
  return {
    since: oldest.startedAt,
    exports: ended.length + missing,
    failed: ended.filter(({ outcome }) => outcome === 'failed').length + missing,
    medianMs: rankOf(took, 0.5),
    p95Ms: rankOf(took, 0.95),
  };
}

function servedMs({ trigger, requestedAt, servedAt, writtenAt, outcome }: ExportRecord): number | null {
  const at = servedAt ?? (outcome === 'written' ? writtenAt : null);
  return trigger === 'publish' && at !== null ? Date.parse(at) - Date.parse(requestedAt) : null;
}

/** By nearest rank, as the platform's database counts too. */
function rankOf(sorted: readonly number[], part: number): number | null {
  return sorted[Math.ceil(sorted.length * part) - 1] ?? null;
}
