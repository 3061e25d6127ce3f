import { formatDurationMs } from '../../contract/duration.ts';

/** `EXPORT_KEEP`: an export is kept while either applies. */
export type ExportKeep = {
  /** It is among this many newest completed exports of its project. */
  newest: number;
  /** A link to its bundle was requested within this time. */
  linkedWithinMs: number;
};

/** The rule as people read it. */
export function describeKeep(keep: ExportKeep | undefined): string {
  if (keep === undefined) return 'all';
  const { newest, linkedWithinMs } = keep;
  return `the newest ${newest} of each project, and those whose link was requested within ${formatDurationMs(linkedWithinMs)}`;
}
