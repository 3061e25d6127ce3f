import { exportReport } from '../../contract/admin-api.ts';
import type { Exported } from './export-to-file.ts';

interface Ended extends Exported {
  file: string;
  /** From the service; undefined if it has none. */
  report: unknown;
  reportFile: string | undefined;
}

/** The export's final output, as lines of text. A report in an unknown form is skipped. */
export function exportSummary({ file, jobId, pageCount, sizeBytes, report, reportFile }: Ended): string {
  const { data } = exportReport.safeParse(report);
  const files = data?.reuse === undefined ? '' : `, ${data.reuse.files} files`;
  const lines = [`${file}: ${pageCount ?? 'unknown'} pages${files}, ${sizeBytes} bytes, job ${jobId}`];
  if (data !== undefined) {
    const { brokenLinks } = data.counts;
    lines.push(...leftOutLines(data.leftOut), `Broken links: ${brokenLinks === 0 ? 'none' : brokenLinks}`);
    const isIncomplete = brokenLinks > 0 || data.leftOut.length > 0;
    if (isIncomplete && reportFile === undefined) lines.push('--report FILE writes a report that names them.');
  }
  if (reportFile !== undefined) lines.push(`Report: ${reportFile}`);
  return `${lines.join('\n')}\n`;
}

function leftOutLines(leftOut: readonly { reason: string; count: number }[]): string[] {
  if (leftOut.length === 0) return ['Left out: nothing'];
  const largest = leftOut.toSorted((a, b) => b.count - a.count);
  const width = String(largest[0]?.count).length;
  const total = leftOut.reduce((sum, { count }) => sum + count, 0);
  return [
    `Left out: ${total} addresses`,
    ...largest.map(({ reason, count }) => `  ${String(count).padStart(width)}  ${reason}`),
  ];
}
