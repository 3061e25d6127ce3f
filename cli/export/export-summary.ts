import type { ExportReport } from '../../contract/admin-api.ts';
import type { Proof } from '../../contract/proof.ts';
import { formatCount } from '../../ui/format.ts';

/** An export that has ended and is saved. What a service doesn't report is null or undefined. */
export interface SavedExport {
  jobId: string;
  out: string;
  pageCount: number | null;
  fileCount: number | null;
  reusedFiles: number | null;
  sizeBytes: number;
  contentSha256: string | null;
  report: ExportReport | undefined;
  reportFile: string | undefined;
  /** Undefined without `--prove`. */
  proof?: SavedProof | undefined;
}

/** A proof and where it was written. */
export interface SavedProof {
  proof: Proof;
  htmlFile: string;
  jsonFile: string;
}

/** Broken links that the text lists; the report has them all. */
const MAX_LISTED = 10;
const MAX_REFERRERS = 3;

/** The end of an export as lines of text. */
export function exportSummary(ended: SavedExport): string {
  const { out, pageCount, fileCount, sizeBytes, reusedFiles, report, reportFile } = ended;
  const files = fileCount === null ? '' : `, ${formatCount(fileCount, 'file')}`;
  const { proof } = ended;
  const lines = [
    `${out}: ${pageCount === null ? 'unknown pages' : formatCount(pageCount, 'page')}${files}, ${sizeBytes} bytes`,
  ];
  const proofs = proof === undefined ? [] : proofLines(proof);
  if (report === undefined) return `${[...lines, 'The service has no report of this export.', ...proofs].join('\n')}\n`;
  if (reusedFiles !== null && reusedFiles > 0) lines.push(`Reused from the last export: ${reusedFiles} files`);
  lines.push(
    ...leftOutLines(report),
    ...unreadLines(report),
    ...brokenLines(report),
    ...anchorLines(report),
    ...originLines(report),
    ...searchLines(report),
    ...machineLines(report),
    ...reportedProofLines(report),
  );
  const { brokenLinks, brokenAnchors } = report.counts;
  const isIncomplete = brokenLinks + brokenAnchors + report.leftOut.length + report.unread.length > 0;
  if (isIncomplete && reportFile === undefined) lines.push('--report FILE writes a report that names them all.');
  if (reportFile !== undefined) lines.push(`Report: ${reportFile}`);
  lines.push(...proofs);
  return `${lines.join('\n')}\n`;
}

/** The end of an export for programs. */
export function exportSummaryJson(ended: SavedExport): object {
  const { jobId, out, pageCount, fileCount, reusedFiles, sizeBytes, contentSha256, report, reportFile } = ended;
  return {
    jobId,
    out,
    pageCount,
    fileCount,
    reusedFileCount: reusedFiles,
    sizeBytes,
    contentSha256,
    brokenLinkCount: report?.counts.brokenLinks ?? null,
    brokenLinks: report?.brokenLinks ?? null,
    brokenAnchorCount: report?.counts.brokenAnchors ?? null,
    brokenAnchors: report?.brokenAnchors ?? null,
    leftOut: report?.leftOut ?? null,
    unread: report?.unread ?? null,
    search: report?.search ?? null,
    markdown: report?.markdown ?? null,
    sitemapMade: report?.sitemapMade ?? false,
    originUrlCount: report?.counts.originUrls ?? null,
    report: reportFile ?? null,
    ...(report?.proof && { proof: report.proof }),
    ...(ended.proof !== undefined && {
      proof: {
        status: ended.proof.proof.status,
        counts: ended.proof.proof.counts,
        html: ended.proof.htmlFile,
        json: ended.proof.jsonFile,
      },
    }),
  };
}

/** What `--fail-on` can name. */
export const FAIL_ON = ['broken-links', 'broken-anchors', 'left-out', 'unread', 'proof'] as const;
export type FailOn = (typeof FAIL_ON)[number];

/** Why the export counts as failed by `--fail-on`; undefined if it doesn't. */
export function failureOf(
  report: ExportReport | undefined,
  failOn: readonly FailOn[],
  proof?: Proof,
): string | undefined {
  const ofReport = failOn.filter((each) => each !== 'proof');
  if (report === undefined && ofReport.length > 0)
    return `--fail-on ${failOn.join(',')}: the service has no report of this export`;
  const counts = {
    'broken-links': report?.counts.brokenLinks ?? 0,
    'broken-anchors': report?.counts.brokenAnchors ?? 0,
    'left-out': report === undefined ? 0 : totalLeftOut(report),
    unread: report?.unread.length ?? 0,
    proof: proof?.counts.different ?? 0,
  };
  const problems = failOn.filter((each) => counts[each] > 0).map((each) => `${counts[each]} ${NOUNS[each]}`);
  if (failOn.includes('proof') && proof?.status === 'unknown') problems.push('no page could be compared');
  return problems.length === 0 ? undefined : `--fail-on ${failOn.join(',')}: ${problems.join(', ')}`;
}

const NOUNS: Record<FailOn, string> = {
  'broken-links': 'broken links',
  'broken-anchors': 'broken anchors',
  'left-out': 'URLs left out',
  unread: 'documents not read',
  proof: 'pages different from the origin',
};

function totalLeftOut({ leftOut }: ExportReport): number {
  return leftOut.reduce((sum, { count }) => sum + count, 0);
}

function leftOutLines(report: ExportReport): string[] {
  const { leftOut } = report;
  if (leftOut.length === 0) return ['Left out: nothing'];
  const largest = leftOut.toSorted((a, b) => b.count - a.count);
  const width = String(largest[0]?.count).length;
  return [
    `Left out: ${totalLeftOut(report)} URLs`,
    ...largest.map(({ reason, count }) => `  ${String(count).padStart(width)}  ${reason}`),
  ];
}

function unreadLines({ unread }: ExportReport): string[] {
  if (unread.length === 0) return [];
  const listed = unread.slice(0, MAX_LISTED).map(({ url, reason }) => `  ${url} (${reason})`);
  const more = unread.length - listed.length;
  return [`Not read, or not to the end: ${unread.length}`, ...listed, ...(more > 0 ? [`  … and ${more} more`] : [])];
}

function brokenLines({ brokenLinks, counts }: ExportReport): string[] {
  if (counts.brokenLinks === 0) return ['Broken links: none'];
  const listed = brokenLinks.slice(0, MAX_LISTED);
  const more = counts.brokenLinks - listed.length;
  return [
    `Broken links: ${counts.brokenLinks}`,
    ...listed.map(({ url, reason, referrers }) => `  ${url} (${reason})${onPages(referrers)}`),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
}

function anchorLines({ brokenAnchors, counts }: ExportReport): string[] {
  if (counts.brokenAnchors === 0) return [];
  const listed = brokenAnchors.slice(0, MAX_LISTED);
  const more = counts.brokenAnchors - listed.length;
  return [
    `Broken anchors: ${counts.brokenAnchors}`,
    ...listed.map(({ url, referrers }) => `  ${url}${onPages(referrers)}`),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
}

function originLines({ counts, originUrls }: ExportReport): string[] {
  if (counts.originUrls === 0) return [];
  return [`Left in text and code: the origin's address, ${counts.originUrls} times in ${originUrls.length} files`];
}

function searchLines({ search }: ExportReport): string[] {
  switch (search?.state) {
    case undefined:
      return [];
    case 'made':
      return [`Search: ${search.languages.map(({ page, pageCount }) => `${page} (${pageCount} pages)`).join(', ')}`];
    case 'own':
      return [`Search: ${search.reason}, ${search.index}`];
    case 'failed':
      return [`Search: none, because ${search.reason}`];
  }
}

/** What the service compared. */
function reportedProofLines({ proof }: ExportReport): string[] {
  if (proof === undefined) return [];
  const { counts, reason, html } = proof;
  if (counts.pages === 0) return [`Proof by the service: unknown (${reason})`];
  const { equal, different, unknown } = counts;
  return [`Proof by the service: ${equal} equal, ${different} different, ${unknown} unknown, ${html}`];
}

function machineLines({ markdown, sitemapMade }: ExportReport): string[] {
  const { fetched, made } = markdown ?? { fetched: 0, made: 0 };
  return [
    ...(fetched + made > 0 ? [`Pages in Markdown: ${fetched} of the origin, ${made} made`] : []),
    ...(sitemapMade ? ['Sitemap: made, because the origin has none'] : []),
  ];
}

function proofLines({ proof, htmlFile }: SavedProof): string[] {
  const { counts, pages } = proof;
  const { different, unknown, equal } = counts;
  const listed = pages.filter(({ status }) => status !== 'equal').slice(0, MAX_LISTED);
  return [
    `Proof: ${counts.pages} of ${counts.pagesInBundle} pages opened: ${equal} equal, ${different} different, ${unknown} unknown`,
    ...listed.map(({ url, reason, findings }) => {
      const [first] = findings;
      return `  ${url} (${reason ?? (first === undefined ? '' : `${first.kind}: ${first.text}`)})`;
    }),
    `Proof: ${htmlFile}`,
  ];
}

function onPages(referrers: readonly string[]): string {
  if (referrers.length === 0) return '';
  const more = referrers.length - MAX_REFERRERS;
  return ` on ${referrers.slice(0, MAX_REFERRERS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
